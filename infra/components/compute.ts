import * as pulumi from "@pulumi/pulumi";
import type { Program } from "../bootstrap/container-program.ts";
import type { StackConfig } from "../config.ts";
import { BatchQueues } from "./batch.ts";
import { Cluster } from "./cluster.ts";
import { CONTAINER_NAME, LOG_STREAM_PREFIX } from "./container-definition.ts";
import { GpuPools } from "./gpu-pools.ts";
import type { Network } from "./network.ts";
import type { ContainerNames } from "./roles.ts";
import { ownName, TaskDefinitions } from "./task-definitions.ts";

export interface ComputeArgs {
  network: Network;
  /** The embedded engine, which containers fetch. */
  program: pulumi.Input<Program>;
  /** The agent beside engines of other makers. There with `engineImages`. */
  agent?: pulumi.Input<Program>;
}

/** Everything that containers run on, and what the functions are told of it. */
export class Compute extends pulumi.ComponentResource {
  /** `SPOTTER_CONTAINERS` of the functions, see functions/aws/aws-deps/containers.ts. */
  readonly places: pulumi.Output<string>;
  /** What policies are made of. */
  readonly names: pulumi.Output<ContainerNames>;
  readonly cluster: Cluster;

  constructor(
    name: string,
    { network, program, agent }: ComputeArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:Compute", name, {}, options);
    const parent = { parent: this };
    const { tasks, nodes } = network.securityGroups;
    const where = { subnetIds: network.publicSubnetIds, securityGroupIds: [tasks] };
    const cluster = new Cluster("replicas", config, parent);
    const pools = new GpuPools("gpu", { cluster, ...where }, config, parent);
    const definitions = new TaskDefinitions(
      "containers",
      { program, ...(agent && { agent }) },
      config,
      parent,
    );
    const { nodeSubnetId: subnetId } = network;
    const queues = new BatchQueues(
      "work",
      { ...where, ...(subnetId && nodes && { nodes: { subnetId, securityGroupId: nodes } }) },
      config,
      parent,
    );
    this.cluster = cluster;
    this.places = placesOf({ network, cluster, pools, definitions, queues }, config);
    this.names = namesOf({ cluster, definitions, queues });
    this.registerOutputs({});
  }
}

interface Parts {
  network: Network;
  cluster: Cluster;
  pools: GpuPools;
  definitions: TaskDefinitions;
  queues: BatchQueues;
}

function placesOf(
  { network, cluster, pools, definitions, queues }: Parts,
  config: StackConfig,
): pulumi.Output<string> {
  const { gpuClasses, spot } = config;
  const gpus = gpuClasses.map(({ name }): [string, object] => {
    const [onDemand, ofSpot] = [pools.onDemand[name], pools.spot[name]];
    const target = {
      taskDefinition: definitions.serve[name]?.name,
      capacityProvider: onDemand?.capacityProvider,
      ...(ofSpot && { spotCapacityProvider: ofSpot.capacityProvider }),
      autoScalingGroups: [onDemand, ofSpot].flatMap((pool) => pool?.autoScalingGroup ?? []),
      // Only a host has a public address to get out by; a task in a network of its own has none.
      network: "host",
    };
    return [name, target];
  });
  const work = ["cpu", ...gpuClasses.map(({ name }) => name)].map((name): [string, object] => {
    const [onDemand, ofSpot] = [queues.onDemand[name], queues.spot[name]];
    const jobDefinition = definitions.work[name]?.name;
    return [name, { jobDefinition, jobQueue: onDemand?.name, ...(ofSpot && { spotJobQueue: ofSpot.name }) }];
  });
  return pulumi.jsonStringify({
    cluster: cluster.name,
    subnets: network.publicSubnetIds,
    securityGroups: [network.securityGroups.tasks],
    assignPublicIp: true,
    containerName: CONTAINER_NAME,
    logGroup: definitions.logGroup,
    logStreamPrefix: LOG_STREAM_PREFIX,
    serve: {
      cpu: {
        taskDefinition: definitions.serve["cpu"]?.name,
        capacityProvider: "FARGATE",
        ...(spot && { spotCapacityProvider: "FARGATE_SPOT" }),
      },
      ...Object.fromEntries(gpus),
    },
    work: Object.fromEntries(work),
    engines: enginesOf(definitions, queues, config),
  });
}

/** Definitions by a pattern of their names: one for each class would be more than functions can be told. */
function enginesOf(
  { nodes: definition }: TaskDefinitions,
  { nodes: queue }: BatchQueues,
  { engineImages, multiNode }: StackConfig,
): object {
  const nodes = multiNode !== null &&
    definition !== undefined &&
    queue !== undefined && {
      nodes: {
        hardwareClass: multiNode.gpuClass.name,
        most: multiNode.maxNodes,
        jobDefinition: definition.name,
        jobQueue: queue.name,
      },
    };
  return {
    ...(engineImages.slime !== undefined && { slime: { work: ownName("slime-{class}"), ...nodes } }),
    ...(engineImages.vllm !== undefined && { vllm: { serve: ownName("vllm-{class}") } }),
  };
}

function namesOf({
  cluster,
  definitions,
  queues,
}: Omit<Parts, "network" | "pools">): pulumi.Output<ContainerNames> {
  const arns = (all: Record<string, { arn: pulumi.Output<string> }>) =>
    Object.values(all).map(({ arn }) => arn);
  return pulumi.output({
    clusterName: cluster.name,
    taskDefinitionArns: [...arns(definitions.serve), ...arns(definitions.vllm)],
    jobDefinitionArns: [
      ...arns(definitions.work),
      ...arns(definitions.slime),
      ...(definitions.nodes ? [definitions.nodes.arn] : []),
    ],
    jobQueueArns: [
      ...arns(queues.onDemand),
      ...arns(queues.spot),
      ...(queues.nodes ? [queues.nodes.arn] : []),
    ],
    taskRoleArns: [definitions.executionRoleArn],
    logGroupName: definitions.logGroup,
  });
}
