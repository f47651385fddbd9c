import type * as batch from "@aws-sdk/client-batch";
import { fargateSizeProblem } from "../fargate.ts";
import { arn, nameOf } from "../ids.ts";
import { page } from "../pages.ts";
import type { Handlers } from "../server.ts";
import type { World } from "../world.ts";
import type { JobDefinitions } from "./definitions.ts";
import { checkRetry, checkTimeout, clientError, namePattern } from "./definitions.ts";
import { needsOf } from "./job-parts.ts";
import { nodesOf, rangeOf, startNodes } from "./nodes.ts";
import { finished, type JobRecord, type Jobs, type Queue } from "./jobs.ts";

export interface BatchState {
  queues: Map<string, Queue>;
  definitions: JobDefinitions;
  jobs: Jobs;
}

export function batchHandlers(state: BatchState, world: World): Handlers {
  const { jobs, definitions } = state;
  const end = (jobId: string, reason: string, kind: "isTerminated" | "isCancelled"): object => {
    const record = jobs.records.get(jobId);
    const started = record !== undefined && ["STARTING", "RUNNING"].includes(record.job.status);
    // CancelJob leaves a job alone once it has started. Neither minds a job that is not there.
    if (record !== undefined && !(kind === "isCancelled" && started)) jobs.terminate(record, reason, kind);
    return {};
  };
  return {
    ...queueHandlers(state),
    SubmitJob: (input: batch.SubmitJobRequest): batch.SubmitJobResponse => submit(state, world, input),
    DescribeJobs({ jobs: ids = [] }: batch.DescribeJobsRequest): batch.DescribeJobsResponse {
      if (ids.length > 100) throw clientError("At most 100 jobs can be described at once.");
      return {
        jobs: ids.flatMap((each) => {
          const record = jobs.records.get(nameOf(each));
          return record === undefined ? [] : [shown(jobs, record)];
        }),
      };
    },
    ListJobs: (input: batch.ListJobsRequest): batch.ListJobsResponse => listJobs(state, input),
    TerminateJob: ({ jobId = "", reason = "" }: batch.TerminateJobRequest) =>
      end(jobId, reason, "isTerminated"),
    CancelJob: ({ jobId = "", reason = "" }: batch.CancelJobRequest) => end(jobId, reason, "isCancelled"),
    RegisterJobDefinition(input: batch.RegisterJobDefinitionRequest): batch.RegisterJobDefinitionResponse {
      const { jobDefinitionName, jobDefinitionArn, revision } = definitions.register(input);
      return { jobDefinitionName, jobDefinitionArn, revision };
    },
    DescribeJobDefinitions(input: batch.DescribeJobDefinitionsRequest): batch.DescribeJobDefinitionsResponse {
      const named = input.jobDefinitions?.flatMap((each) => definitions.find(each) ?? []);
      const all = named ?? definitions.list(input.jobDefinitionName, input.status);
      const { items, next } = page(all, { ...paging(input), code: "ClientException" });
      return { jobDefinitions: items, nextToken: next };
    },
    DeregisterJobDefinition({ jobDefinition = "" }: batch.DeregisterJobDefinitionRequest) {
      const found = definitions.find(jobDefinition);
      if (found !== undefined) found.status = "INACTIVE";
      return {};
    },
  };
}

const paging = ({ maxResults, nextToken }: { maxResults?: number; nextToken?: string }) => ({
  maxResults,
  nextToken,
  most: 100,
});

/** Nothing makes it idempotent: the same call twice is two jobs. */
function submit(state: BatchState, world: World, input: batch.SubmitJobRequest): batch.SubmitJobResponse {
  const { jobName = "", tags = {}, containerOverrides = {} } = input;
  if (!namePattern.test(jobName)) {
    throw clientError(
      "Job name should match valid pattern: up to 128 letters, numbers, hyphens and underscores.",
    );
  }
  if (Object.keys(tags).length > 50) throw clientError("There can be at most 50 tags.");
  for (const each of ["arrayProperties", "eksPropertiesOverride", "ecsPropertiesOverride"] as const) {
    if (input[each] !== undefined) throw clientError(`the fake Batch does not know ${each}`);
  }
  checkRetry(input.retryStrategy);
  checkTimeout(input.timeout);
  if (Buffer.byteLength(JSON.stringify(input)) > 30 * 1024) {
    throw clientError("The job's payload is larger than 30 KiB.");
  }
  if (containerOverrides.environment?.some(({ name = "" }) => name.startsWith("AWS_BATCH")) === true) {
    throw clientError("Environment variables may not start with AWS_BATCH.");
  }
  const queue = state.queues.get(nameOf(input.jobQueue ?? ""));
  if (queue === undefined) throw clientError(`Job Queue ${input.jobQueue ?? ""} does not exist.`);
  if ((input.dependsOn ?? []).length > 20) throw clientError("A job can depend on at most 20 jobs.");
  const definition = state.definitions.active(input.jobDefinition ?? "");
  const jobId = world.ids.uuid();
  const jobArn = arn("batch", `job/${jobId}`);
  const job = (id: string, properties: batch.ContainerProperties, overrides: batch.ContainerOverrides) =>
    recordOf({ input, definition, queue, id, properties, overrides, nowMs: world.clock.now() });
  const { nodeProperties } = definition;
  if (definition.type === "multinode") {
    if (input.containerOverrides !== undefined)
      throw clientError("containerOverrides are not for multi-node jobs.");
    const { nodePropertyOverrides } = input.nodeOverrides ?? {};
    const numNodes = nodesOf(nodeProperties, input.nodeOverrides);
    const { mainNode = 0 } = nodeProperties ?? {};
    const nodes = Array.from({ length: numNodes }, (_, node) =>
      job(
        `${jobId}#${node}`,
        rangeOf(nodeProperties?.nodeRangeProperties, node)?.container ?? {},
        rangeOf(nodePropertyOverrides, node)?.containerOverrides ?? {},
      ),
    );
    const first = nodes[mainNode];
    if (first === undefined) throw clientError("The main node must be one of the nodes.");
    const { container: _container, ...rest } = first.job;
    const whole: JobRecord = {
      ...first,
      job: {
        ...rest,
        jobId,
        jobArn,
        nodeProperties: { ...nodeProperties, numNodes } as batch.NodeProperties,
      },
    };
    startNodes(state.jobs, whole, nodes, mainNode);
  } else {
    if (input.nodeOverrides !== undefined) throw clientError("nodeOverrides are for multi-node jobs.");
    state.jobs.submit(job(jobId, definition.containerProperties ?? {}, containerOverrides));
  }
  return { jobArn, jobName, jobId };
}

interface Submitted {
  input: batch.SubmitJobRequest;
  definition: ReturnType<JobDefinitions["active"]>;
  queue: Queue;
  id: string;
  properties: batch.ContainerProperties;
  overrides: batch.ContainerOverrides;
  nowMs: number;
}

/** What is kept of a job, or of one of its nodes. */
function recordOf({ input, definition, queue, id, properties, overrides, nowMs }: Submitted): JobRecord {
  const needs = needsOf(properties, overrides);
  if (needs.cpu <= 0 || needs.memoryMiB <= 0) throw clientError("A job needs VCPU and MEMORY.");
  if (definition.platformCapabilities?.includes("FARGATE") === true) {
    const problem = fargateSizeProblem(needs);
    if (problem !== undefined) throw clientError(problem);
  }
  const { jobName = "", tags = {} } = input;
  return {
    queue,
    properties,
    overrides,
    container: undefined,
    lease: undefined,
    instance: undefined,
    ending: undefined,
    cancelTimeout: () => undefined,
    attemptStartedAtMs: undefined,
    job: {
      jobId: id,
      jobName,
      jobArn: arn("batch", `job/${id}`),
      jobQueue: queue.arn,
      jobDefinition: definition.jobDefinitionArn,
      status: "SUBMITTED",
      createdAt: nowMs,
      startedAt: undefined,
      attempts: [],
      dependsOn: input.dependsOn ?? [],
      parameters: { ...definition.parameters, ...input.parameters },
      retryStrategy: input.retryStrategy ?? definition.retryStrategy ?? { attempts: 1, evaluateOnExit: [] },
      timeout: input.timeout ?? definition.timeout,
      tags: { ...(input.propagateTags === true ? definition.tags : {}), ...tags },
      propagateTags: input.propagateTags,
      platformCapabilities: definition.platformCapabilities ?? ["EC2"],
      isCancelled: false,
      isTerminated: false,
      container: {
        image: properties.image,
        command: overrides.command ?? properties.command ?? [],
        jobRoleArn: properties.jobRoleArn,
        executionRoleArn: properties.executionRoleArn,
        environment: [...(properties.environment ?? []), ...(overrides.environment ?? [])],
        resourceRequirements: overrides.resourceRequirements ?? properties.resourceRequirements,
        networkInterfaces: [],
      },
    },
  };
}

function shown(jobs: Jobs, record: JobRecord): batch.JobDetail {
  return structuredClone({ ...record.job, statusReason: jobs.statusReasonOf(record) });
}

function listJobs({ jobs, queues }: BatchState, input: batch.ListJobsRequest): batch.ListJobsResponse {
  const { jobQueue, jobStatus = "RUNNING", filters = [] } = input;
  if (jobQueue === undefined) throw clientError("the fake Batch lists by jobQueue only");
  const queue = queues.get(nameOf(jobQueue));
  if (queue === undefined) throw clientError(`Job Queue ${jobQueue} does not exist.`);
  if (filters.length > 1) throw clientError("There can be only one filter.");
  const matches =
    filters[0] === undefined ? ({ job }: JobRecord) => job.status === jobStatus : filterOf(filters[0]);
  const found = [...jobs.records.values()]
    // Nodes are listed by the job that they are of.
    .filter((record) => record.queue === queue && record.node === undefined && matches(record))
    .sort((a, b) => (b.job.createdAt ?? 0) - (a.job.createdAt ?? 0));
  const { items, next } = page(found, { ...paging(input), code: "ClientException" });
  return {
    jobSummaryList: items.map((record) => {
      const { jobId, jobName, jobArn, createdAt, status, startedAt, stoppedAt, jobDefinition, container } =
        record.job;
      return {
        jobId,
        jobName,
        jobArn,
        createdAt,
        status,
        startedAt,
        stoppedAt,
        jobDefinition,
        statusReason: jobs.statusReasonOf(record),
        container: finished(record)
          ? { exitCode: container?.exitCode, reason: container?.reason }
          : undefined,
      };
    }),
    nextToken: next,
  };
}

/** With a filter the status does not matter. Names are compared without case; a trailing asterisk is a prefix. */
function filterOf({ name, values = [] }: batch.KeyValuesPair): (record: JobRecord) => boolean {
  const value = (values[0] ?? "").toLowerCase();
  const matches = (text: string): boolean =>
    value.endsWith("*") ? text.toLowerCase().startsWith(value.slice(0, -1)) : text.toLowerCase() === value;
  switch (name) {
    case "JOB_NAME":
      return ({ job }) => matches(job.jobName);
    case "JOB_DEFINITION":
      return ({ job }) => matches(nameOf(job.jobDefinition ?? ""));
    case "BEFORE_CREATED_AT":
      return ({ job }) => (job.createdAt ?? 0) < Number(value);
    case "AFTER_CREATED_AT":
      return ({ job }) => (job.createdAt ?? 0) > Number(value);
    default:
      throw clientError(`There is no filter ${String(name)}.`);
  }
}

function queueHandlers({ queues }: BatchState): Handlers {
  return {
    DescribeJobQueues({ jobQueues }: batch.DescribeJobQueuesRequest): batch.DescribeJobQueuesResponse {
      const all = [...queues.values()].filter(
        ({ name }) => jobQueues === undefined || jobQueues.some((each) => nameOf(each) === name),
      );
      return {
        jobQueues: all.map(({ name, arn: jobQueueArn, pools }) => ({
          jobQueueName: name,
          jobQueueArn,
          state: "ENABLED",
          status: "VALID",
          priority: 1,
          computeEnvironmentOrder: pools.map(({ settings }, order) => ({
            order: order + 1,
            computeEnvironment: arn("batch", `compute-environment/${settings.name}`),
          })),
        })),
      };
    },
  };
}
