import type { JobStatus, JobSummary, SubmitJobCommandInput } from "@aws-sdk/client-batch";
import type { ContainerSpec, ContainerState } from "../ports/containers.ts";
import type { AwsApis } from "./aws-containers/apis.ts";
import { isRefusal, launchRefused } from "./aws-containers/call-errors.ts";
import { platformName, tagsOf } from "./aws-containers/names.ts";
import { allPages, inHundreds } from "./aws-containers/pages.ts";
import type { AwsContainersParams } from "./aws-containers/params.ts";
import { queuesOf, workPlace } from "./aws-containers/place.ts";
import type { Platform, Started } from "./aws-containers/platform.ts";
import {
  isOver,
  jobState,
  mainNodeOf,
  newerJob,
  viewOfJob,
  type JobView,
} from "./batch-containers/job-state.ts";

const LIVING: JobStatus[] = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"];
/** Batch takes no shorter limit. */
const MIN_DURATION_S = 60;

/** Runs, evals and conversions: a job of Batch for each attempt. Batch waits for capacity, but does not retry: decision 0006. */
export class BatchContainers implements Platform<JobView> {
  readonly findsEndedByName = true;
  readonly #params: AwsContainersParams;
  readonly #apis: AwsApis;

  constructor(params: AwsContainersParams, apis: AwsApis) {
    this.#params = params;
    this.#apis = apis;
  }

  async start(spec: ContainerSpec, nowMs: number): Promise<Started<JobView>> {
    const input = submitJobInput(this.#params, spec);
    const api = await this.#apis.batch();
    try {
      const { jobId: id } = await api.submitJob(input);
      if (id === undefined) return { waits: "submitted" };
      const { jobId, kind } = spec;
      return { view: { id, jobId, kind, status: "SUBMITTED", createdAtMs: nowMs, isTerminated: false } };
    } catch (error) {
      if (isRefusal(error)) throw launchRefused(error, "SubmitJob", input.jobQueue ?? "");
      throw error;
    }
  }

  async findByName(jobId: string, spec?: ContainerSpec): Promise<JobView[]> {
    const api = await this.#apis.batch();
    const values = [platformName(this.#params.stack, jobId)];
    const queues = spec === undefined ? queuesOf(this.#params) : [workPlace(this.#params, spec).jobQueue];
    const ids = await listIn(queues, (jobQueue, nextToken) =>
      api.listJobs({ jobQueue, filters: [{ name: "JOB_NAME", values }], nextToken }),
    );
    return await this.look(ids);
  }

  async listAll(isKnown: (id: string) => boolean): Promise<JobView[]> {
    const api = await this.#apis.batch();
    const lists = await Promise.all(
      LIVING.map((jobStatus) =>
        listIn(queuesOf(this.#params), (jobQueue, nextToken) =>
          api.listJobs({ jobQueue, jobStatus, nextToken }),
        ),
      ),
    );
    // One that moves on between the lists is in two of them.
    return await this.look([...new Set(lists.flat())].filter((id) => !isKnown(id)));
  }

  async look(ids: string[]): Promise<JobView[]> {
    const api = await this.#apis.batch();
    const describe = (all: string[]) =>
      inHundreds(all, async (some) => (await api.describeJobs({ jobs: some })).jobs ?? []);
    const jobs = await describe(ids);
    // Of a job over several nodes the main one has the log and the exit code.
    const mains = new Map((await describe(jobs.flatMap(mainNodeOf))).map((main) => [main.jobId, main]));
    return jobs.flatMap((job) => {
      const main = mains.get(mainNodeOf(job)[0]);
      const { container, attempts } = main ?? job;
      return viewOfJob(this.#params.stack, { ...job, container, attempts }) ?? [];
    });
  }

  async end(id: string, words: string): Promise<void> {
    const api = await this.#apis.batch();
    await api.terminateJob({ jobId: id, reason: words });
  }

  logStream({ logStream }: JobView): string | undefined {
    return logStream;
  }

  newer(known: JobView | undefined, seen: JobView): JobView {
    return newerJob(known, seen);
  }

  isOver(view: JobView): boolean {
    return isOver(view);
  }

  async state(view: JobView, logTail: string[]): Promise<ContainerState> {
    return jobState(view, { logTail });
  }
}

type ListPage = (
  jobQueue: string,
  nextToken: string | undefined,
) => Promise<{ jobSummaryList?: JobSummary[] | undefined; nextToken?: string | undefined }>;

/** Ids of all jobs that the call lists in these queues. */
async function listIn(queues: string[], list: ListPage): Promise<string[]> {
  const lists = await Promise.all(
    queues.map((jobQueue) =>
      allPages(async (token) => {
        const { jobSummaryList, nextToken } = await list(jobQueue, token);
        return { items: jobSummaryList, nextToken };
      }),
    ),
  );
  return lists.flat().flatMap(({ jobId }) => jobId ?? []);
}

/** What SubmitJob is asked for. */
function submitJobInput(
  params: AwsContainersParams,
  { jobId, kind, engine, environment, hardware, maxLifetimeMs }: ContainerSpec,
): SubmitJobCommandInput {
  const { jobDefinition, jobQueue, nodes } = workPlace(params, { engine, hardware });
  const gpus = hardware?.gpu === undefined ? 0 : hardware.count;
  const containerOverrides = {
    environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
    ...(gpus > 0 && { resourceRequirements: [{ type: "GPU" as const, value: String(gpus) }] }),
  };
  return {
    jobName: platformName(params.stack, jobId),
    jobQueue,
    jobDefinition,
    tags: tagsOf(params.stack, { jobId, kind, maxLifetimeMs }),
    propagateTags: true,
    ...(nodes === undefined
      ? { containerOverrides }
      : {
          nodeOverrides: {
            numNodes: nodes,
            nodePropertyOverrides: [{ targetNodes: "0:", containerOverrides }],
          },
        }),
    // Without a rule that matches, Batch would retry.
    retryStrategy: { attempts: 1, evaluateOnExit: [{ onReason: "*", action: "EXIT" }] },
    ...(maxLifetimeMs !== undefined && {
      timeout: { attemptDurationSeconds: Math.max(MIN_DURATION_S, Math.ceil(maxLifetimeMs / 1000)) },
    }),
  };
}
