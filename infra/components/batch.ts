import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { GpuClass, StackConfig } from "../config.ts";
import { CPU_SHAPE } from "./container-definition.ts";
import { GpuHost } from "./gpu-host.ts";
import { slugOf } from "./gpu-pools.ts";

export interface BatchArgs {
  subnetIds: pulumi.Input<string>[];
  securityGroupIds: pulumi.Input<string>[];
  /** Where nodes of one training are, and how they let each other in. There with `multiNode`. */
  nodes?: { subnetId: pulumi.Input<string>; securityGroupId: pulumi.Input<string> } | undefined;
}

export interface Queue {
  name: pulumi.Output<string>;
  arn: pulumi.Output<string>;
}

type Resources = Omit<
  aws.types.input.batch.ComputeEnvironmentComputeResources,
  "subnets" | "securityGroupIds" | "maxVcpus"
>;

/** How long a job waits for an instance before it is given back, and for what can never be. */
const CAPACITY_WAIT_S = 3_600;
const IMPOSSIBLE_WAIT_S = 600;
/** AWS's words; functions/aws/aws-containers/reasons.ts reads them again. */
const TIME_LIMITS = [
  { reason: "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", maxTimeSeconds: CAPACITY_WAIT_S },
  { reason: "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE", maxTimeSeconds: IMPOSSIBLE_WAIT_S },
  { reason: "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT", maxTimeSeconds: IMPOSSIBLE_WAIT_S },
].map((each) => ({ ...each, state: "RUNNABLE", action: "CANCEL" }));

/** Queues of runs and evals, over environments that are empty until a job waits. */
export class BatchQueues extends pulumi.ComponentResource {
  /** By hardware class: `cpu`, `L4:1`. */
  readonly onDemand: Record<string, Queue> = {};
  readonly spot: Record<string, Queue> = {};
  /** Of trainings over several hosts. There with `multiNode`. */
  readonly nodes: Queue | undefined;
  readonly #args: BatchArgs;
  readonly #config: StackConfig;

  constructor(name: string, args: BatchArgs, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:BatchQueues", name, {}, options);
    this.#args = args;
    this.#config = config;
    this.#cpu(name);
    if (config.gpuClasses.length > 0) this.#gpus(name, config.gpuClasses);
    if (config.multiNode !== null && args.nodes !== undefined)
      this.nodes = this.#multiNode(`${name}-nodes`, config.multiNode, args.nodes);
    this.registerOutputs({});
  }

  #cpu(name: string): void {
    const maxVcpus = this.#config.maxCpuTasks * CPU_SHAPE.vCpus;
    const inNetwork = { ...this.#network(), maxVcpus };
    this.onDemand["cpu"] = this.#queue(`${name}-cpu`, { type: "FARGATE", ...inNetwork }).queue;
    if (this.#config.spot)
      this.spot["cpu"] = this.#queue(`${name}-cpu-spot`, { type: "FARGATE_SPOT", ...inNetwork }).queue;
  }

  #gpus(name: string, gpuClasses: GpuClass[]): void {
    const { securityGroupIds } = this.#args;
    const host = new GpuHost(name, { securityGroupIds }, this.#config, { parent: this });
    const clusters: pulumi.Output<string>[] = [];
    for (const gpuClass of gpuClasses) {
      const own = `${name}-${slugOf(gpuClass.name)}`;
      const maxVcpus = gpuClass.maxInstances * gpuClass.vCpus;
      const inNetwork = { ...this.#network(), ...instances(gpuClass, host), maxVcpus };
      const onDemand = this.#queue(own, {
        type: "EC2",
        allocationStrategy: "BEST_FIT_PROGRESSIVE",
        ...inNetwork,
      });
      this.onDemand[gpuClass.name] = onDemand.queue;
      clusters.push(onDemand.clusterArn);
      if (!gpuClass.spot) continue;
      const spot = this.#queue(`${own}-spot`, {
        type: "SPOT",
        allocationStrategy: "SPOT_PRICE_CAPACITY_OPTIMIZED",
        ...inNetwork,
      });
      this.spot[gpuClass.name] = spot.queue;
      clusters.push(spot.clusterArn);
    }
    host.allow(clusters, []);
  }

  #multiNode(
    name: string,
    { gpuClass, maxNodes, fabricCards }: NonNullable<StackConfig["multiNode"]>,
    { subnetId, securityGroupId }: NonNullable<BatchArgs["nodes"]>,
  ): Queue {
    const { tags } = this.#config;
    const host = new GpuHost(name, { securityGroupIds: [securityGroupId], fabricCards }, this.#config, {
      parent: this,
    });
    const group = new aws.ec2.PlacementGroup(name, { strategy: "cluster", tags }, { parent: this });
    const { queue, clusterArn } = this.#queue(name, {
      type: "EC2",
      allocationStrategy: "BEST_FIT_PROGRESSIVE",
      subnets: [subnetId],
      // The template names the group for each card of the fabric.
      placementGroup: group.name,
      ...instances(gpuClass, host),
      maxVcpus: maxNodes * gpuClass.vCpus,
    });
    host.allow([clusterArn], []);
    return queue;
  }

  #network() {
    const { subnetIds: subnets, securityGroupIds } = this.#args;
    return { subnets, securityGroupIds };
  }

  #queue(
    name: string,
    computeResources: aws.types.input.batch.ComputeEnvironmentComputeResources,
  ): { queue: Queue; clusterArn: pulumi.Output<string> } {
    const { tags } = this.#config;
    const isOnHosts = computeResources.type === "EC2" || computeResources.type === "SPOT";
    const environment = new aws.batch.ComputeEnvironment(
      name,
      {
        type: "MANAGED",
        computeResources: isOnHosts ? { ...computeResources, minVcpus: 0, tags } : computeResources,
        // A change waits for what runs; it does not end it.
        ...(isOnHosts && { updatePolicy: { terminateJobsOnUpdate: false, jobExecutionTimeoutMinutes: 360 } }),
        tags,
      },
      // Batch sets it while the stack lives.
      { parent: this, ignoreChanges: ["computeResources.desiredVcpus"] },
    );
    const queue = new aws.batch.JobQueue(
      name,
      {
        state: "ENABLED",
        priority: 1,
        computeEnvironmentOrders: [{ order: 1, computeEnvironment: environment.arn }],
        jobStateTimeLimitActions: TIME_LIMITS,
        tags,
      },
      { parent: this },
    );
    return { queue: { name: queue.name, arn: queue.arn }, clusterArn: environment.ecsClusterArn };
  }
}

function instances({ instanceTypes }: GpuClass, host: GpuHost): Omit<Resources, "type"> {
  return {
    instanceTypes,
    instanceRole: host.instanceProfileArn,
    ec2Configurations: [{ imageType: "ECS_AL2023_NVIDIA" }],
    launchTemplate: { launchTemplateId: host.launchTemplate.id, version: host.launchTemplate.version },
  };
}
