import type { Cluster, Failure, RunTaskRequest, RunTaskResponse, TaskDefinition } from "@aws-sdk/client-ecs";
import { fargateSizeProblem } from "../fargate.ts";
import { Fault } from "../fault.ts";
import { arn, nameOf } from "../ids.ts";
import { fits, freeOf } from "../packing.ts";
import type { Pool } from "../pool.ts";
import type { World } from "../world.ts";
import type { TaskDefinitions } from "./definitions.ts";
import { containerArn, needsOf } from "./task-parts.ts";
import type { TaskRecord, Tasks } from "./tasks.ts";

export interface EcsState {
  clusters: Map<string, Cluster & { clusterName: string; clusterArn: string }>;
  definitions: TaskDefinitions;
  tasks: Tasks;
  /** Answers by client token, for a day. */
  tokens: Map<string, { input: string; response: RunTaskResponse; atMs: number }>;
}

const tokenMs = 24 * 3_600_000;

const invalid = (message: string): Fault => new Fault("InvalidParameterException", message);

export function clusterOf(state: EcsState, reference: string | undefined) {
  const found = state.clusters.get(nameOf(reference ?? "default"));
  if (found === undefined) throw new Fault("ClusterNotFoundException", "Cluster not found.");
  return found;
}

export function runTask(state: EcsState, world: World, input: RunTaskRequest): RunTaskResponse {
  const { clientToken } = input;
  const asText = JSON.stringify(input);
  const known = clientToken === undefined ? undefined : state.tokens.get(clientToken);
  if (known !== undefined && world.clock.now() - known.atMs < tokenMs) {
    if (known.input === asText) return known.response;
    throw new Fault("ConflictException", "The client token was used with other parameters.");
  }
  check(input);
  const response = startTasks(state, world, input);
  if (clientToken !== undefined) {
    state.tokens.set(clientToken, { input: asText, response, atMs: world.clock.now() });
  }
  return response;
}

/** The service's own rules, beyond the model's types. */
function check(input: RunTaskRequest): void {
  const { count = 1, startedBy = "", clientToken = "", tags = [], group = "", propagateTags } = input;
  if (!Number.isInteger(count) || count < 1 || count > 10) throw invalid("count must be between 1 and 10.");
  if (startedBy.length > 128) throw invalid("startedBy must be at most 128 characters.");
  if (!/^[A-Za-z0-9/_.:-]*$/.test(startedBy)) throw invalid("startedBy has characters that are not allowed.");
  if (clientToken.length > 64) throw invalid("clientToken must be at most 64 characters.");
  if (tags.length > 50) throw invalid("There can be at most 50 tags.");
  if (group.length > 255) throw invalid("group must be at most 255 characters.");
  for (const { key = "", value = "" } of tags) {
    if (key.length < 1 || key.length > 128 || value.length > 256)
      throw invalid(`The tag ${key} is too long.`);
    if (key.startsWith("aws:")) throw invalid("Tag keys may not start with aws:.");
  }
  if (propagateTags !== undefined && !["TASK_DEFINITION", "SERVICE", "NONE"].includes(propagateTags)) {
    throw invalid("propagateTags must be one of TASK_DEFINITION, SERVICE, NONE.");
  }
  if (propagateTags === "SERVICE") throw invalid("propagateTags SERVICE is not supported for RunTask.");
  if (input.launchType !== undefined && (input.capacityProviderStrategy ?? []).length > 0) {
    throw invalid("launchType and capacityProviderStrategy cannot be specified together.");
  }
}

function startTasks(state: EcsState, world: World, input: RunTaskRequest): RunTaskResponse {
  const cluster = clusterOf(state, input.cluster);
  const definition = state.definitions.active(input.taskDefinition ?? "");
  checkOverrides(definition, input);
  if (definition.networkMode === "awsvpc" && input.networkConfiguration?.awsvpcConfiguration === undefined) {
    throw invalid("Network Configuration must be provided when networkMode 'awsvpc' is specified.");
  }
  const provider = providerOf(cluster, input);
  if (
    provider?.startsWith("FARGATE") === true &&
    definition.requiresCompatibilities?.includes("FARGATE") === true
  ) {
    const problem = fargateSizeProblem(needsOf(definition, input.overrides ?? {}));
    if (problem !== undefined) throw invalid(problem);
  }
  const pool = provider === undefined ? undefined : poolOf(world, cluster, provider);
  const failures: Failure[] = [];
  const records: TaskRecord[] = [];
  for (let each = 0; each < (input.count ?? 1); each++) {
    const record = recordOf(world, cluster.clusterArn, definition, input, provider);
    const target =
      provider === undefined && input.launchType !== "FARGATE" ? roomNow(world, cluster, record) : { pool };
    if ("failures" in target) failures.push(...target.failures);
    else {
      state.tasks.create(record, target.pool);
      records.push(record);
    }
  }
  return { tasks: records.map(({ task }) => structuredClone(task)), failures };
}

function checkOverrides(definition: TaskDefinition, { overrides }: RunTaskRequest): void {
  const names = new Set(definition.containerDefinitions?.map(({ name }) => name));
  for (const { name } of overrides?.containerOverrides ?? []) {
    if (!names.has(name))
      throw invalid(`Override for container named ${name} is not a container in the TaskDefinition.`);
  }
  if (JSON.stringify(overrides ?? {}).length > 8192) {
    throw invalid("Container Overrides length must be at most 8192");
  }
}

/** The capacity provider of this task, or none for the EC2 launch type. */
function providerOf(cluster: Cluster, input: RunTaskRequest): string | undefined {
  if (input.launchType !== undefined) return input.launchType === "FARGATE" ? "FARGATE" : undefined;
  const strategy = input.capacityProviderStrategy ?? cluster.defaultCapacityProviderStrategy ?? [];
  const best = [...strategy].sort(
    (a, b) => (b.base ?? 0) - (a.base ?? 0) || (b.weight ?? 0) - (a.weight ?? 0),
  )[0];
  return best?.capacityProvider;
}

/** Undefined: Fargate. */
function poolOf(world: World, cluster: Cluster, provider: string): Pool | undefined {
  if (!(cluster.capacityProviders ?? []).includes(provider)) {
    throw invalid(`The specified capacity provider '${provider}' is not associated with the cluster.`);
  }
  if (provider.startsWith("FARGATE")) return undefined;
  const pool = world.pools.get(provider);
  if (pool === undefined) throw invalid("The specified capacity provider was not found.");
  return pool;
}

/** The EC2 launch type does not wait: there is room on a registered instance, or the call says what is missing. */
function roomNow(
  world: World,
  { capacityProviders = [] }: Cluster,
  record: TaskRecord,
): { pool: Pool } | { failures: Failure[] } {
  const needs = needsOf(record.definition, record.overrides);
  const failures: Failure[] = [];
  let instances = 0;
  for (const pool of capacityProviders.flatMap((name) => world.pools.get(name) ?? [])) {
    for (const instance of pool.instances.filter(({ registered, draining }) => registered && !draining)) {
      instances++;
      const free = freeOf(instance);
      if (fits(needs, free)) return { pool };
      const missing = needs.gpus > free.gpus ? "GPU" : needs.memoryMiB > free.memoryMiB ? "MEMORY" : "CPU";
      failures.push({
        arn: containerArn("container-instance", record, instance.id),
        reason: `RESOURCE:${missing}`,
      });
    }
  }
  if (instances === 0) throw invalid("No Container Instances were found in your cluster.");
  return { failures };
}

function recordOf(
  world: World,
  clusterArn: string,
  definition: TaskDefinition,
  input: RunTaskRequest,
  provider: string | undefined,
): TaskRecord {
  const id = world.ids.hex();
  const taskArn = arn("ecs", `task/${nameOf(clusterArn)}/${id}`);
  const tags = input.tags ?? [];
  return {
    definition,
    overrides: input.overrides ?? {},
    tags,
    running: [],
    lease: undefined,
    instance: undefined,
    hostLost: false,
    starting: false,
    task: {
      taskArn,
      clusterArn,
      taskDefinitionArn: definition.taskDefinitionArn,
      lastStatus: "PROVISIONING",
      desiredStatus: "RUNNING",
      version: 0,
      createdAt: new Date(world.clock.now()),
      startedBy: input.startedBy,
      group: input.group ?? `family:${definition.family ?? ""}`,
      overrides: { containerOverrides: [], ...input.overrides },
      capacityProviderName: provider,
      launchType: provider?.startsWith("FARGATE") === true ? "FARGATE" : "EC2",
      cpu: definition.cpu,
      memory: definition.memory,
      healthStatus: "UNKNOWN",
      enableExecuteCommand: input.enableExecuteCommand ?? false,
      attachments: [],
      tags,
      containers: (definition.containerDefinitions ?? []).map(({ name, image, cpu, memory }) => ({
        containerArn: arn("ecs", `container/${nameOf(clusterArn)}/${id}/${world.ids.uuid()}`),
        taskArn,
        name,
        image,
        lastStatus: "PENDING",
        networkInterfaces: [],
        cpu: cpu === undefined ? undefined : String(cpu),
        memory: memory === undefined ? undefined : String(memory),
      })),
    },
  };
}
