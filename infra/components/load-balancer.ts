import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";
import { aliasRecords, DomainCertificate } from "./domain.ts";

export interface LoadBalancerArgs {
  vpcId: pulumi.Input<string>;
  /** In at least two zones, with a way to the internet. */
  subnetIds: pulumi.Input<pulumi.Input<string>[]>;
}

/** Where the gateway listens. */
export const GATEWAY_PORT = 8080;
/** A stream may be silent for so long; the most that a load balancer takes. */
const IDLE_S = 4000;
/** Time that requests of a gateway that goes may still take; as long as its container gets. */
export const DRAIN_S = 120;
/** Addresses that CloudFront asks from, in a list that AWS keeps. */
const CLOUDFRONT = "com.amazonaws.global.cloudfront.origin-facing";
const TLS_POLICY = "ELBSecurityPolicy-TLS13-1-2-2021-06";

/**
 * The load balancer between CloudFront and the gateway. Nobody but CloudFront reaches it, and the gateway answers
 * only the stack's own distribution, by the origin secret. With a domain CloudFront asks it by TLS, under the name
 * `origin.<domain>`; without one there is no name that a certificate could be for, and it asks by HTTP over the
 * network of AWS.
 */
export class LoadBalancer extends pulumi.ComponentResource {
  readonly targetGroupArn: pulumi.Output<string>;
  readonly securityGroupId: pulumi.Output<string>;
  /** The name that CloudFront asks. */
  readonly originName: pulumi.Output<string>;
  readonly usesTls: boolean;
  /** As CloudWatch calls them. */
  readonly arnSuffix: pulumi.Output<string>;
  readonly targetGroupArnSuffix: pulumi.Output<string>;
  /** What has to be there before targets are. */
  readonly listener: aws.lb.Listener;

  constructor(
    name: string,
    args: LoadBalancerArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:LoadBalancer", name, {}, options);
    const parent = { parent: this };
    const origin = config.domain && { ...config.domain, name: `origin.${config.domain.name}` };
    const port = origin === null ? 80 : 443;
    const group = new aws.ec2.SecurityGroup(
      name,
      {
        vpcId: args.vpcId,
        description: "Load balancer of the gateway: only CloudFront enters",
        tags: config.tags,
      },
      parent,
    );
    openToCloudFront(name, group, port, config, parent);
    const balancer = new aws.lb.LoadBalancer(
      name,
      {
        loadBalancerType: "application",
        securityGroups: [group.id],
        subnets: args.subnetIds,
        idleTimeout: IDLE_S,
        dropInvalidHeaderFields: true,
        tags: config.tags,
      },
      parent,
    );
    const targets = new aws.lb.TargetGroup(
      name,
      {
        vpcId: args.vpcId,
        targetType: "ip",
        port: GATEWAY_PORT,
        protocol: "HTTP",
        loadBalancingAlgorithmType: "least_outstanding_requests",
        deregistrationDelay: DRAIN_S,
        healthCheck: {
          path: "/health",
          interval: 10,
          timeout: 5,
          healthyThreshold: 2,
          unhealthyThreshold: 3,
        },
        tags: config.tags,
      },
      parent,
    );
    const certificate = origin && new DomainCertificate(`${name}-origin`, origin, config, parent);
    this.listener = new aws.lb.Listener(
      name,
      {
        loadBalancerArn: balancer.arn,
        port,
        protocol: certificate === null ? "HTTP" : "HTTPS",
        ...(certificate !== null && { certificateArn: certificate.arn, sslPolicy: TLS_POLICY }),
        defaultActions: [{ type: "forward", targetGroupArn: targets.arn }],
        tags: config.tags,
      },
      parent,
    );
    if (origin !== null) {
      const target = { domainName: balancer.dnsName, zoneId: balancer.zoneId };
      aliasRecords(`${name}-origin`, origin, target, { types: ["A"], parent: this });
    }
    this.originName = origin === null ? balancer.dnsName : pulumi.output(origin.name);
    this.usesTls = origin !== null;
    this.targetGroupArn = targets.arn;
    this.securityGroupId = group.id;
    this.arnSuffix = balancer.arnSuffix;
    this.targetGroupArnSuffix = targets.arnSuffix;
    this.registerOutputs({ originName: this.originName });
  }
}

function openToCloudFront(
  name: string,
  group: aws.ec2.SecurityGroup,
  port: number,
  { tags }: StackConfig,
  parent: pulumi.CustomResourceOptions,
): void {
  const list = aws.ec2.getManagedPrefixListOutput({ name: CLOUDFRONT }, parent);
  new aws.vpc.SecurityGroupIngressRule(
    `${name}-from-cloudfront`,
    {
      securityGroupId: group.id,
      prefixListId: list.id,
      ipProtocol: "tcp",
      fromPort: port,
      toPort: port,
      description: "CloudFront",
      tags,
    },
    parent,
  );
}
