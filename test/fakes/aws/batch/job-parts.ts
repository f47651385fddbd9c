import type { ContainerOverrides, ContainerProperties, ResourceRequirement } from "@aws-sdk/client-batch";
import type { ContainerRun } from "../containers.ts";
import { nameOf } from "../ids.ts";
import type { InstanceResources } from "../instance-types.ts";
import { secretOf, type World } from "../world.ts";
import type { JobRecord } from "./jobs.ts";

/** What a job reserves: resource requirements, or the older vcpus and memory. */
export function needsOf(properties: ContainerProperties, overrides: ContainerOverrides): InstanceResources {
  const all = [...(properties.resourceRequirements ?? []), ...(overrides.resourceRequirements ?? [])];
  const of = (kind: ResourceRequirement["type"]): number | undefined => {
    const value = all.findLast(({ type }) => type === kind)?.value;
    return value === undefined ? undefined : Number(value);
  };
  return {
    cpu: (of("VCPU") ?? overrides.vcpus ?? properties.vcpus ?? 0) * 1024,
    memoryMiB: of("MEMORY") ?? overrides.memory ?? properties.memory ?? 0,
    gpus: of("GPU") ?? 0,
  };
}

/** What a job's container starts with. Fails when a secret cannot be read. */
export function runOf(record: JobRecord, world: World): ContainerRun {
  const { job, properties, overrides, queue } = record;
  const environment: Record<string, string> = {};
  for (const { name = "", value = "" } of [
    ...(properties.environment ?? []),
    ...(overrides.environment ?? []),
  ]) {
    environment[name] = value;
  }
  for (const { name = "", valueFrom = "" } of properties.secrets ?? []) {
    environment[name] = secretOf(world, valueFrom);
  }
  const needs = needsOf(properties, overrides);
  const stream = logStreamOf(record);
  const group = properties.logConfiguration?.options?.["awslogs-group"] ?? "/aws/batch/job";
  return {
    kind: "job",
    arn: job.jobArn ?? "",
    name: "default",
    environment: {
      ...environment,
      AWS_BATCH_JOB_ID: job.jobId,
      AWS_BATCH_JOB_ATTEMPT: String(job.attempts.length + 1),
      AWS_BATCH_JQ_NAME: queue.name,
      ...record.node?.environment,
    },
    command: substituted(overrides.command ?? properties.command ?? [], job.parameters ?? {}),
    cpu: needs.cpu,
    memoryMiB: needs.memoryMiB,
    gpus: needs.gpus,
    log: (line) => world.logs.add(group, stream, line, world.clock.now()),
  };
}

/** `Ref::name` in a command is a parameter. */
const substituted = (command: string[], parameters: Record<string, string>): string[] =>
  command.map((part) => (part.startsWith("Ref::") ? (parameters[part.slice(5)] ?? part) : part));

/** One stream an attempt. */
export function logStreamOf({ job }: Pick<JobRecord, "job">): string {
  const definition = nameOf(job.jobDefinition ?? "").split(":")[0] ?? "";
  return `${definition}/default/${job.jobId}-${job.attempts.length + 1}`;
}
