import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import { ipv6Subnet } from "./network-addresses.ts";

/** Addresses of the network, and of nothing else that a stack has to do with. */
export const NETWORK_CIDR = "10.42.0.0/16";
const ANYWHERE = "0.0.0.0/0";
const ANYWHERE_IPV6 = "::/0";
/** What a server may get from the system where it asks for any port. */
const ANY_PORT = { ipProtocol: "tcp", fromPort: 1024, toPort: 65535 } as const;

type SecurityGroups = {
  /** Of what carries chats: it may reach replicas. Whoever puts a load balancer in front lets it in. */
  gateway: pulumi.Output<string>;
  /** Of containers and GPU hosts: out, and in for nobody but the gateway. */
  tasks: pulumi.Output<string>;
  /** Of the nodes of one training: everything among themselves. There with `multiNode`. */
  nodes?: pulumi.Output<string>;
};

/**
 * A network without a NAT gateway: public subnets, and doors of its own to S3 and DynamoDB, which cost nothing. With
 * `multiNode` there is a private subnet with a NAT gateway as well, since nodes of Batch get no public address; with
 * `gateway: "lambda"` there is IPv6, by which a function in the network gets out.
 */
export class Network extends pulumi.ComponentResource {
  readonly vpcId: pulumi.Output<string>;
  /** One in each zone. What starts there gets a public address if it asks, and lets nobody in. */
  readonly publicSubnetIds: pulumi.Output<string>[];
  /** For nodes of one training, in one zone. There with `multiNode`. */
  readonly nodeSubnetId: pulumi.Output<string> | undefined;
  readonly securityGroups: SecurityGroups;
  /** The door to S3: what a bucket lets in by this needs no credentials. */
  readonly s3EndpointId: pulumi.Output<string>;
  readonly #config: StackConfig;

  constructor(name: string, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:Network", name, {}, options);
    this.#config = config;
    const { tags } = config;
    const isDualStack = config.gateway === "lambda";
    const vpc = new aws.ec2.Vpc(
      name,
      {
        cidrBlock: NETWORK_CIDR,
        enableDnsHostnames: true,
        enableDnsSupport: true,
        ...(isDualStack && { assignGeneratedIpv6CidrBlock: true }),
        tags,
      },
      { parent: this },
    );
    this.vpcId = vpc.id;
    // Whatever names no group of its own gets this one: nothing in, nothing out.
    new aws.ec2.DefaultSecurityGroup(
      name,
      { vpcId: vpc.id, ingress: [], egress: [], tags },
      { parent: this },
    );
    const zones = aws.getAvailabilityZonesOutput(
      { state: "available", filters: [{ name: "opt-in-status", values: ["opt-in-not-required"] }] },
      { parent: this },
    );
    const zone = (index: number) => zones.names.apply((names) => names[index] ?? "");
    const internet = this.#publicRoutes(name, vpc, isDualStack);
    const subnets = Array.from({ length: config.availabilityZones }, (_, index) =>
      this.#subnet(`${name}-${index + 1}`, vpc, internet.table, {
        cidrBlock: `10.42.${index * 16}.0/20`,
        availabilityZone: zone(index),
        mapPublicIpOnLaunch: true,
        ...(isDualStack && { ipv6CidrBlock: vpc.ipv6CidrBlock.apply((block) => ipv6Subnet(block, index)) }),
      }),
    );
    this.publicSubnetIds = subnets.map(({ id }) => id);
    const nodes =
      config.multiNode === null ? undefined : this.#nodeSubnet(name, vpc, zone(0), subnets, internet);
    this.nodeSubnetId = nodes?.subnetId;
    this.s3EndpointId = this.#doors(name, vpc, [
      internet.table.id,
      ...(nodes === undefined ? [] : [nodes.tableId]),
    ]);
    this.securityGroups = this.#securityGroups(name, vpc, isDualStack);
    this.registerOutputs({ vpcId: this.vpcId });
  }

  #publicRoutes(name: string, vpc: aws.ec2.Vpc, isDualStack: boolean) {
    const { tags } = this.#config;
    const parent = { parent: this };
    const gateway = new aws.ec2.InternetGateway(name, { vpcId: vpc.id, tags }, parent);
    const table = new aws.ec2.RouteTable(`${name}-public`, { vpcId: vpc.id, tags }, parent);
    const route = new aws.ec2.Route(
      `${name}-public`,
      { routeTableId: table.id, destinationCidrBlock: ANYWHERE, gatewayId: gateway.id },
      parent,
    );
    if (isDualStack) {
      const outward = new aws.ec2.EgressOnlyInternetGateway(name, { vpcId: vpc.id, tags }, parent);
      new aws.ec2.Route(
        `${name}-public-ipv6`,
        {
          routeTableId: table.id,
          destinationIpv6CidrBlock: ANYWHERE_IPV6,
          egressOnlyGatewayId: outward.id,
        },
        parent,
      );
    }
    return { table, route };
  }

  #subnet(
    name: string,
    vpc: aws.ec2.Vpc,
    table: aws.ec2.RouteTable,
    args: Omit<aws.ec2.SubnetArgs, "vpcId">,
  ) {
    const subnet = new aws.ec2.Subnet(
      name,
      { ...args, vpcId: vpc.id, tags: this.#config.tags },
      { parent: this },
    );
    new aws.ec2.RouteTableAssociation(
      name,
      { subnetId: subnet.id, routeTableId: table.id },
      { parent: this },
    );
    return subnet;
  }

  #nodeSubnet(
    name: string,
    vpc: aws.ec2.Vpc,
    zone: pulumi.Input<string>,
    [first]: aws.ec2.Subnet[],
    internet: { route: aws.ec2.Route },
  ) {
    const { tags } = this.#config;
    const address = new aws.ec2.Eip(`${name}-nodes`, { domain: "vpc", tags }, { parent: this });
    const nat = new aws.ec2.NatGateway(
      `${name}-nodes`,
      { allocationId: address.id, ...(first !== undefined && { subnetId: first.id }), tags },
      // Without a way out of its own it fails.
      { parent: this, dependsOn: internet.route },
    );
    const table = new aws.ec2.RouteTable(`${name}-nodes`, { vpcId: vpc.id, tags }, { parent: this });
    new aws.ec2.Route(
      `${name}-nodes`,
      { routeTableId: table.id, destinationCidrBlock: ANYWHERE, natGatewayId: nat.id },
      { parent: this },
    );
    const { id } = this.#subnet(`${name}-nodes`, vpc, table, {
      cidrBlock: "10.42.128.0/20",
      availabilityZone: zone,
      mapPublicIpOnLaunch: false,
    });
    return { subnetId: id, tableId: table.id };
  }

  /** Gateway endpoints: checkpoints and weights go to S3 without leaving AWS, and without a price for each GB. */
  #doors(name: string, vpc: aws.ec2.Vpc, routeTableIds: pulumi.Input<string>[]): pulumi.Output<string> {
    const region = aws.getRegionOutput({}, { parent: this }).region;
    const door = (service: string) =>
      new aws.ec2.VpcEndpoint(
        `${name}-${service}`,
        {
          vpcId: vpc.id,
          vpcEndpointType: "Gateway",
          serviceName: pulumi.interpolate`com.amazonaws.${region}.${service}`,
          routeTableIds,
          tags: this.#config.tags,
        },
        { parent: this },
      );
    door("dynamodb");
    return door("s3").id;
  }

  #securityGroups(name: string, vpc: aws.ec2.Vpc, isDualStack: boolean): SecurityGroups {
    const gateway = this.#group(`${name}-gateway`, "Carries chats to replicas", vpc);
    const tasks = this.#group(`${name}-tasks`, "Containers and GPU hosts: only the gateway gets in", vpc);
    this.#out(`${name}-gateway`, gateway, { cidrIpv4: ANYWHERE });
    if (isDualStack) this.#out(`${name}-gateway-ipv6`, gateway, { cidrIpv6: ANYWHERE_IPV6 });
    this.#out(`${name}-tasks`, tasks, { cidrIpv4: ANYWHERE });
    this.#in(`${name}-replicas`, tasks, { referencedSecurityGroupId: gateway.id, ...ANY_PORT });
    if (this.#config.multiNode === null) return { gateway: gateway.id, tasks: tasks.id };
    const nodes = this.#group(`${name}-nodes`, "Nodes of one training: everything among themselves", vpc);
    this.#out(`${name}-nodes`, nodes, { cidrIpv4: ANYWHERE });
    // An adapter of the fabric wants both directions by the group itself: addresses do not count there.
    this.#out(`${name}-nodes-fabric`, nodes, { referencedSecurityGroupId: nodes.id });
    this.#in(`${name}-nodes-fabric`, nodes, { referencedSecurityGroupId: nodes.id, ipProtocol: "-1" });
    return { gateway: gateway.id, tasks: tasks.id, nodes: nodes.id };
  }

  #group(name: string, description: string, vpc: aws.ec2.Vpc): aws.ec2.SecurityGroup {
    return new aws.ec2.SecurityGroup(
      name,
      { vpcId: vpc.id, description, tags: this.#config.tags },
      { parent: this },
    );
  }

  #in(
    name: string,
    group: aws.ec2.SecurityGroup,
    rule: Omit<aws.vpc.SecurityGroupIngressRuleArgs, "securityGroupId">,
  ): void {
    new aws.vpc.SecurityGroupIngressRule(
      name,
      { ...rule, securityGroupId: group.id, tags: this.#config.tags },
      { parent: this },
    );
  }

  #out(
    name: string,
    group: aws.ec2.SecurityGroup,
    to: Pick<aws.vpc.SecurityGroupEgressRuleArgs, "cidrIpv4" | "cidrIpv6" | "referencedSecurityGroupId">,
  ): void {
    new aws.vpc.SecurityGroupEgressRule(
      name,
      { ...to, ipProtocol: "-1", securityGroupId: group.id, tags: this.#config.tags },
      { parent: this },
    );
  }
}
