import type { ContainerProperties, NodeProperties, ResourceRequirement } from "@aws-sdk/client-batch";
import type { ContainerDefinition } from "@aws-sdk/client-ecs";
import type { GpuClass, StackConfig } from "../config.ts";
import type { ContainerStart } from "./container-start.ts";

/** What containers of one program have in common. */
export interface Shared {
  start: ContainerStart;
  logGroup: string;
  region: string;
  executionRoleArn: string;
}

/** Name of the one container of every task: overrides and logs go by it. */
export const CONTAINER_NAME = "spotter";
export const LOG_STREAM_PREFIX = "spotter";
/** What a container without a GPU gets; functions/cost/prices.ts counts with it. */
export const CPU_SHAPE = { vCpus: 4, memoryMiB: 16 * 1024 } as const;
/** The most that Fargate gives a container between SIGTERM and its end. */
const STOP_TIMEOUT_S = 120;
/** Of a host's memory; the rest is the system's and the agent's. One container takes a host for itself. */
const HOST_MEMORY_SHARE = 0.9;
/** Of a container's memory, for processes on several GPUs that share it. */
const SHARED_MEMORY_SHARE = 0.25;
const OPEN_FILES = 65_536;

/** Replicas on Fargate. */
export function cpuReplica(shared: Shared): ContainerDefinition {
  return {
    ...replica(shared),
    ulimits: [{ name: "nofile", softLimit: OPEN_FILES, hardLimit: OPEN_FILES }],
  } satisfies ContainerDefinition;
}

/** Replicas on a GPU host; how many GPUs is said with each task. */
export function gpuReplica(shared: Shared, gpuClass: GpuClass): ContainerDefinition {
  const memoryMiB = hostMemoryMiB(gpuClass);
  return {
    ...replica(shared),
    memoryReservation: memoryMiB,
    linuxParameters: { initProcessEnabled: true, sharedMemorySize: sharedMemoryMiB(memoryMiB) },
    ulimits: [{ name: "nofile", softLimit: OPEN_FILES, hardLimit: OPEN_FILES }],
  } satisfies ContainerDefinition;
}

function replica({ start, logGroup, region }: Shared): ContainerDefinition {
  const { replacesEntry = false, command, ...rest } = start;
  return {
    name: CONTAINER_NAME,
    essential: true,
    ...rest,
    ...(replacesEntry ? { entryPoint: command } : { command }),
    stopTimeout: STOP_TIMEOUT_S,
    // Reaps what the program's own processes leave behind.
    linuxParameters: { initProcessEnabled: true },
    logConfiguration: {
      logDriver: "awslogs",
      options: {
        "awslogs-group": logGroup,
        "awslogs-region": region,
        "awslogs-stream-prefix": LOG_STREAM_PREFIX,
        // A log that is slow must not stop what is worth money.
        mode: "non-blocking",
        "max-buffer-size": "4m",
      },
    },
  } satisfies ContainerDefinition;
}

/** Runs and evals on Fargate. */
export function cpuWork(shared: Shared): ContainerProperties {
  return {
    ...work(shared),
    resourceRequirements: requirements(CPU_SHAPE.vCpus, CPU_SHAPE.memoryMiB),
    fargatePlatformConfiguration: { platformVersion: "1.4.0" },
    runtimePlatform: { operatingSystemFamily: "LINUX", cpuArchitecture: "X86_64" },
    networkConfiguration: { assignPublicIp: "ENABLED" },
    linuxParameters: { initProcessEnabled: true },
  } satisfies ContainerProperties;
}

/** Runs on GPU hosts; a job that wants fewer GPUs than a host has says so. */
export function gpuWork(shared: Shared, gpuClass: GpuClass): ContainerProperties {
  const memoryMiB = hostMemoryMiB(gpuClass);
  return {
    ...work(shared),
    resourceRequirements: requirements(gpuClass.vCpus, memoryMiB, gpuClass.gpus),
    linuxParameters: { initProcessEnabled: true, sharedMemorySize: sharedMemoryMiB(memoryMiB) },
    ulimits: [{ name: "nofile", softLimit: OPEN_FILES, hardLimit: OPEN_FILES }],
  } satisfies ContainerProperties;
}

/** One training over several hosts. Node 0 is the main one: its end is the job's. */
export function nodesWork(
  shared: Shared,
  { gpuClass, maxNodes, fabricCards }: NonNullable<StackConfig["multiNode"]>,
): NodeProperties {
  const container = gpuWork(shared, gpuClass);
  const devices = Array.from({ length: fabricCards }, (_, card) => {
    const path = `/dev/infiniband/uverbs${card}`;
    return {
      hostPath: path,
      containerPath: path,
      permissions: ["READ" as const, "WRITE" as const, "MKNOD" as const],
    };
  });
  return {
    numNodes: maxNodes,
    mainNode: 0,
    nodeRangeProperties: [
      {
        targetNodes: "0:",
        container: {
          ...container,
          instanceType: gpuClass.instanceTypes[0],
          linuxParameters: { ...container.linuxParameters, devices },
          // The fabric reads and writes memory by itself, which must stay where it is.
          ulimits: [...(container.ulimits ?? []), { name: "memlock", softLimit: -1, hardLimit: -1 }],
        },
      },
    ],
  } satisfies NodeProperties;
}

/** Batch knows no other entry than the image's own. */
function work({ start, logGroup, region, executionRoleArn }: Shared): ContainerProperties {
  const { replacesEntry: _replacesEntry, ...rest } = start;
  return {
    ...rest,
    executionRoleArn,
    logConfiguration: {
      logDriver: "awslogs",
      options: {
        "awslogs-group": logGroup,
        "awslogs-region": region,
        "awslogs-stream-prefix": LOG_STREAM_PREFIX,
      },
    },
  } satisfies ContainerProperties;
}

function requirements(vCpus: number, memoryMiB: number, gpus = 0): ResourceRequirement[] {
  return [
    { type: "VCPU", value: String(vCpus) },
    { type: "MEMORY", value: String(memoryMiB) },
    ...(gpus > 0 ? [{ type: "GPU" as const, value: String(gpus) }] : []),
  ];
}

function hostMemoryMiB({ memoryGiB }: GpuClass): number {
  return Math.floor(memoryGiB * 1024 * HOST_MEMORY_SHARE);
}

function sharedMemoryMiB(memoryMiB: number): number {
  return Math.floor(memoryMiB * SHARED_MEMORY_SHARE);
}
