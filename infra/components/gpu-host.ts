import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { userData } from "../bootstrap/user-data.ts";
import type { StackConfig } from "../config.ts";

export interface GpuHostArgs {
  /** The cluster it joins; absent: Batch tells it, and has an image of its own. */
  cluster?: { name: pulumi.Input<string>; arn: pulumi.Input<string> };
  securityGroupIds: pulumi.Input<string>[];
  /** Cards of the fabric that nodes of one training talk over. Default: none. */
  fabricCards?: number;
}

/** The newest image of ECS for GPUs, looked up by EC2 when a host starts: no update of the stack for a new one. */
const IMAGE = "resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id";
/** The image of an engine, a model, room for checkpoints. functions/cost/prices.ts counts with it. */
const DISK_GIB = 200;
/** Images of 15 GB are written once for each host: four times as fast for two cents an hour. */
const DISK_MIB_PER_S = 500;

/**
 * What GPU hosts are launched from, and the role of their agent. Containers have no role and are refused the host's
 * (user-data.ts); what it allows is to be an agent, and to end hosts of its own groups.
 */
export class GpuHost extends pulumi.ComponentResource {
  readonly launchTemplate: { id: pulumi.Output<string>; version: pulumi.Output<string> };
  readonly instanceProfileArn: pulumi.Output<string>;
  readonly roleName: pulumi.Output<string>;
  readonly #name: string;

  constructor(
    name: string,
    args: GpuHostArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:GpuHost", name, {}, options);
    this.#name = name;
    const { tags } = config;
    const parent = { parent: this };
    const role = new aws.iam.Role(
      name,
      { assumeRolePolicy: aws.iam.assumeRolePolicyForPrincipal({ Service: "ec2.amazonaws.com" }), tags },
      parent,
    );
    const profile = new aws.iam.InstanceProfile(name, { role: role.name, tags }, parent);
    const { region } = aws.getRegionOutput({}, parent);
    const data = pulumi
      .all([region, args.cluster?.name])
      .apply(([where, cluster]) => userData({ region: where, cluster: cluster ?? null, ...config.host }));
    const template = new aws.ec2.LaunchTemplate(
      name,
      {
        ...(args.cluster !== undefined && { imageId: IMAGE, iamInstanceProfile: { arn: profile.arn } }),
        userData: data,
        updateDefaultVersion: true,
        // A host that shuts itself down is gone, not asleep on a disk that costs.
        instanceInitiatedShutdownBehavior: "terminate",
        metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
        blockDeviceMappings: [
          {
            deviceName: "/dev/xvda",
            ebs: {
              volumeType: "gp3",
              volumeSize: DISK_GIB,
              throughput: DISK_MIB_PER_S,
              encrypted: "true",
              deleteOnTermination: "true",
            },
          },
        ],
        ...interfaces(args),
        tagSpecifications: ["instance", "volume"].map((resourceType) => ({ resourceType, tags })),
        tags,
      },
      parent,
    );
    this.launchTemplate = { id: template.id, version: template.latestVersion.apply(String) };
    this.instanceProfileArn = profile.arn;
    this.roleName = role.name;
    this.registerOutputs({});
  }

  /** What an agent needs on these clusters, and the right to end hosts of these groups. */
  allow(clusterArns: pulumi.Input<string>[], groupArns: pulumi.Input<string>[]): void {
    new aws.iam.RolePolicy(
      this.#name,
      {
        role: this.roleName,
        policy: pulumi.all([pulumi.all(clusterArns), pulumi.all(groupArns)]).apply(agentPolicy),
      },
      { parent: this },
    );
  }
}

function interfaces({ securityGroupIds, fabricCards = 0 }: GpuHostArgs): Partial<aws.ec2.LaunchTemplateArgs> {
  if (fabricCards === 0) return { vpcSecurityGroupIds: securityGroupIds };
  return {
    networkInterfaces: Array.from({ length: fabricCards }, (_, card) => ({
      networkCardIndex: card,
      deviceIndex: card === 0 ? 0 : 1,
      interfaceType: "efa",
      securityGroups: securityGroupIds,
      deleteOnTermination: "true",
    })),
  };
}

/** @internal */
export function agentPolicy([clusterArns, groupArns]: [string[], string[]]): string {
  const onCluster = { ArnEquals: { "ecs:cluster": clusterArns } };
  const statements: aws.iam.PolicyStatement[] = [
    {
      Effect: "Allow",
      Action: [
        "ecs:RegisterContainerInstance",
        "ecs:DeregisterContainerInstance",
        "ecs:SubmitAttachmentStateChanges",
        "ecs:SubmitContainerStateChange",
        "ecs:SubmitTaskStateChange",
      ],
      Resource: clusterArns,
    },
    {
      Effect: "Allow",
      Action: ["ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState"],
      // Container instances have no ARN before they are registered: the cluster is what counts.
      Resource: "*",
      Condition: onCluster,
    },
    // The address to ask: it belongs to nothing.
    { Effect: "Allow", Action: "ecs:DiscoverPollEndpoint", Resource: "*" },
  ];
  const leaving: aws.iam.PolicyStatement = {
    Effect: "Allow",
    Action: "autoscaling:TerminateInstanceInAutoScalingGroup",
    Resource: groupArns,
  };
  return JSON.stringify({
    Version: "2012-10-17",
    Statement: [...statements, ...(groupArns.length === 0 ? [] : [leaving])],
  } satisfies aws.iam.PolicyDocument);
}
