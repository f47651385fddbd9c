import { beforeAll, describe, expect, it } from "vitest";
import { ipv6Subnet } from "../../infra/components/network-addresses.ts";
import { recordComponents, type Components } from "./record-components.ts";

const record = (settings: Record<string, string> = {}) =>
  recordComponents(settings, async (config) => {
    const { Network } = await import("../../infra/components/network.ts");
    const { publicSubnetIds, securityGroups } = new Network("network", config);
    return { publicSubnetIds, securityGroups };
  });

const SUBNET = "aws:ec2/subnet:Subnet";
const INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule";
const EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule";
const idOf = ({ outputs }: Components, group: string) =>
  (outputs["securityGroups"] as Record<string, string>)[group];

describe("a stack's own network", () => {
  let network: Components;
  beforeAll(async () => {
    network = await record({ availabilityZones: "3" });
  }, 30_000);

  it("has a public subnet in each zone, and none with the addresses of another", () => {
    const inputs = network.all(SUBNET).map((subnet) => subnet.inputs);
    expect(inputs.map(({ availabilityZone }) => availabilityZone)).toEqual([
      "eu-central-1a",
      "eu-central-1b",
      "eu-central-1c",
    ]);
    expect(inputs.map(({ cidrBlock }) => cidrBlock)).toEqual([
      "10.42.0.0/20",
      "10.42.16.0/20",
      "10.42.32.0/20",
    ]);
    expect(inputs.every(({ mapPublicIpOnLaunch }) => mapPublicIpOnLaunch === true)).toBe(true);
    expect(network.all("aws:ec2/routeTableAssociation:RouteTableAssociation")).toHaveLength(3);
  });

  it("has nothing that costs: no NAT gateway, no address, only free doors to S3 and DynamoDB (76)", () => {
    expect(network.all("aws:ec2/natGateway:NatGateway")).toEqual([]);
    expect(network.all("aws:ec2/eip:Eip")).toEqual([]);
    const doors = network.all("aws:ec2/vpcEndpoint:VpcEndpoint").map(({ inputs }) => inputs);
    expect(doors.map(({ vpcEndpointType, serviceName }) => [vpcEndpointType, serviceName])).toEqual([
      ["Gateway", "com.amazonaws.eu-central-1.dynamodb"],
      ["Gateway", "com.amazonaws.eu-central-1.s3"],
    ]);
    for (const { routeTableIds } of doors) expect(routeTableIds).toHaveLength(1);
  });

  it("lets nobody in but the gateway, which gets to replicas", () => {
    expect(network.only(INGRESS).inputs).toMatchObject({
      securityGroupId: idOf(network, "tasks"),
      referencedSecurityGroupId: idOf(network, "gateway"),
      ipProtocol: "tcp",
      fromPort: 1024,
      toPort: 65535,
    });
    expect(network.only("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup").inputs).toMatchObject({
      ingress: [],
      egress: [],
    });
    // Rules in a group itself would fight with the rules that are resources of their own.
    for (const { inputs } of network.all("aws:ec2/securityGroup:SecurityGroup"))
      expect([inputs["ingress"], inputs["egress"]]).toEqual([undefined, undefined]);
  });

  it("lets containers and the gateway out", () => {
    const out = network.all(EGRESS).map(({ inputs }) => [inputs["securityGroupId"], inputs["cidrIpv4"]]);
    expect(out).toEqual([
      [idOf(network, "gateway"), "0.0.0.0/0"],
      [idOf(network, "tasks"), "0.0.0.0/0"],
    ]);
  });

  it("tags everything that can have tags", () => {
    const without = ["Route", "RouteTableAssociation", "Network"];
    for (const { type, name, inputs } of network.resources)
      if (!without.includes(type.split(":").at(-1) ?? ""))
        expect(inputs["tags"], `${type} ${name}`).toEqual(network.config.tags);
  });
});

describe("with nodes of one training", () => {
  let network: Components;
  beforeAll(async () => {
    network = await record({ multiNode: "H100:8=2" });
  });

  it("has a private subnet with a way out in the first zone, and the same doors there", () => {
    const subnet = network.only(SUBNET, "network-nodes");
    expect(subnet.inputs).toMatchObject({
      availabilityZone: "eu-central-1a",
      mapPublicIpOnLaunch: false,
      cidrBlock: "10.42.128.0/20",
    });
    const nat = network.only("aws:ec2/natGateway:NatGateway");
    expect(nat.inputs["subnetId"]).toBe((network.outputs["publicSubnetIds"] as string[])[0]);
    expect(nat.dependencies.join()).toContain("Route::network-public");
    expect(network.only("aws:ec2/route:Route", "network-nodes").inputs["natGatewayId"]).toMatch(/^nat-/);
    for (const { inputs } of network.all("aws:ec2/vpcEndpoint:VpcEndpoint"))
      expect(inputs["routeTableIds"]).toHaveLength(2);
  });

  it("lets the nodes say everything to each other, as the fabric wants it", () => {
    const nodes = idOf(network, "nodes");
    const self = { securityGroupId: nodes, referencedSecurityGroupId: nodes, ipProtocol: "-1" };
    expect(network.only(INGRESS, "network-nodes-fabric").inputs).toMatchObject(self);
    expect(network.only(EGRESS, "network-nodes-fabric").inputs).toMatchObject(self);
  });
});

describe("with a gateway of functions", () => {
  it("lets them out by IPv6, which costs nothing, and nobody in", async () => {
    const network = await record({ gateway: "lambda" });
    expect(network.only("aws:ec2/vpc:Vpc").inputs["assignGeneratedIpv6CidrBlock"]).toBe(true);
    expect(network.all(SUBNET).map(({ inputs }) => inputs["ipv6CidrBlock"])).toEqual([
      "2a05:d014:1234:5600::/64",
      "2a05:d014:1234:5601::/64",
    ]);
    expect(network.only("aws:ec2/route:Route", "network-public-ipv6").inputs).toMatchObject({
      destinationIpv6CidrBlock: "::/0",
      egressOnlyGatewayId: expect.stringMatching(/^eigw-/) as string,
    });
    expect(network.only(EGRESS, "network-gateway-ipv6").inputs["cidrIpv6"]).toBe("::/0");
    expect(network.all(INGRESS)).toHaveLength(1);
    expect(network.all("aws:ec2/natGateway:NatGateway")).toEqual([]);
  });
});

describe("a subnet of a block of IPv6", () => {
  it.each([
    ["2a05:d014:1234:5600::/56", 0, "2a05:d014:1234:5600::/64"],
    ["2a05:d014:1234:5600::/56", 2, "2a05:d014:1234:5602::/64"],
    ["2600:1f18:abc::/56", 1, "2600:1f18:abc:1::/64"],
    ["2600:1f18:abc:100::/56", 15, "2600:1f18:abc:10f::/64"],
  ])("of %s, the one at %i", (block, index, subnet) => {
    expect(ipv6Subnet(block, index)).toBe(subnet);
  });
});
