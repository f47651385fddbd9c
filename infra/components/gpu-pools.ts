import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { GpuClass, StackConfig } from "../config.ts";
import type { Cluster } from "./cluster.ts";
import { GpuHost } from "./gpu-host.ts";

export interface GpuPoolsArgs {
  cluster: Cluster;
  subnetIds: pulumi.Input<string>[];
  securityGroupIds: pulumi.Input<string>[];
}

/** Where replicas of one GPU class run. */
export interface GpuPool {
  capacityProvider: pulumi.Output<string>;
  autoScalingGroup: pulumi.Output<string>;
}

type Market = "on-demand" | "spot";

/**
 * Hosts for replicas: for each GPU class a group that is empty until a replica waits, and another of spot instances.
 * How many replicas there are is Spotter's decision. ECS starts a host for each that waits; nobody takes one away from
 * below a replica: hosts are protected, and each ends itself when it has had no work for a while (host-guard.sh).
 */
export class GpuPools extends pulumi.ComponentResource {
  /** By the class's name, such as `L4:1`. */
  readonly onDemand: Record<string, GpuPool> = {};
  readonly spot: Record<string, GpuPool> = {};
  readonly #args: GpuPoolsArgs;
  readonly #config: StackConfig;

  constructor(
    name: string,
    args: GpuPoolsArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:GpuPools", name, {}, options);
    this.#args = args;
    this.#config = config;
    const { cluster, securityGroupIds } = args;
    const groups: pulumi.Output<string>[] = [];
    if (config.gpuClasses.length > 0) {
      const host = new GpuHost(name, { cluster, securityGroupIds }, config, { parent: this });
      for (const gpuClass of config.gpuClasses) {
        const own = `${name}-${slugOf(gpuClass.name)}`;
        const onDemand = this.#pool(own, gpuClass, "on-demand", host);
        this.onDemand[gpuClass.name] = onDemand;
        groups.push(onDemand.groupArn);
        if (!gpuClass.spot) continue;
        const spot = this.#pool(`${own}-spot`, gpuClass, "spot", host);
        this.spot[gpuClass.name] = spot;
        groups.push(spot.groupArn);
      }
      host.allow([cluster.arn], groups);
    }
    cluster.attach(
      [...Object.values(this.onDemand), ...Object.values(this.spot)].map((pool) => pool.capacityProvider),
    );
    this.registerOutputs({});
  }

  #pool(
    name: string,
    gpuClass: GpuClass,
    market: Market,
    host: GpuHost,
  ): GpuPool & { groupArn: pulumi.Output<string> } {
    const { tags } = this.#config;
    const group = new aws.autoscaling.Group(
      name,
      {
        minSize: 0,
        maxSize: gpuClass.maxInstances,
        vpcZoneIdentifiers: this.#args.subnetIds,
        mixedInstancesPolicy: instancesOf(gpuClass, market, host),
        // Destroyed with its hosts, instead of waiting until somebody has ended them.
        forceDelete: true,
        waitForCapacityTimeout: "0",
        protectFromScaleIn: true,
        // Zones are not balanced by ending what runs.
        suspendedProcesses: ["AZRebalance"],
        tags: Object.entries({ ...tags, AmazonECSManaged: "true" }).map(([key, value]) => ({
          key,
          value,
          propagateAtLaunch: true,
        })),
      },
      // ECS sets it while the stack lives.
      { parent: this, ignoreChanges: ["desiredCapacity"] },
    );
    const provider = new aws.ecs.CapacityProvider(
      name,
      {
        autoScalingGroupProvider: {
          autoScalingGroupArn: group.arn,
          // With it a group that is destroyed waits for tasks that nobody ends any more.
          managedTerminationProtection: "DISABLED",
          // It holds a host that goes for as long as tasks of ours run there, up to two days; hosts drain by themselves.
          managedDraining: "DISABLED",
          managedScaling: {
            status: "ENABLED",
            targetCapacity: 100,
            minimumScalingStepSize: 1,
            maximumScalingStepSize: gpuClass.maxInstances,
          },
        },
        tags,
      },
      { parent: this },
    );
    return { capacityProvider: provider.name, autoScalingGroup: group.name, groupArn: group.arn };
  }
}

function instancesOf(
  { instanceTypes }: GpuClass,
  market: Market,
  { launchTemplate }: GpuHost,
): aws.types.input.autoscaling.GroupMixedInstancesPolicy {
  return {
    launchTemplate: {
      launchTemplateSpecification: { launchTemplateId: launchTemplate.id, version: launchTemplate.version },
      overrides: instanceTypes.map((instanceType) => ({ instanceType })),
    },
    instancesDistribution: {
      onDemandBaseCapacity: 0,
      onDemandPercentageAboveBaseCapacity: market === "spot" ? 0 : 100,
      onDemandAllocationStrategy: "lowest-price",
      spotAllocationStrategy: "price-capacity-optimized",
    },
  };
}

/** For names of resources: `l4-1`. */
export function slugOf(className: string): string {
  return className.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
