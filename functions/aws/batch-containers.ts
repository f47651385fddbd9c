import type { JobStatus, JobSummary, SubmitJobCommandInput } from "@aws-sdk/client-batch";
import type { ContainerSpec, ContainerState } from "../ports/containers.ts";
import type { AwsApis } from "./aws-containers/apis.ts";
import { isRefusal, launchRefused } from "./aws-containers/call-errors.ts";
import { platformName, tagsOf } from "./aws-containers/names.ts";
import { allPages, inHundreds } from "./aws-containers/pages.ts";
import { spotOf, targetOf, type AwsContainersParams } from "./aws-containers/params.ts";
import type { Platform, Started } from "./aws-containers/platform.ts";
import { isOver, jobState, newerJob, viewOfJob, type JobView } from "./batch-containers/job-state.ts";

const LIVING: JobStatus[] = ["SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING"];
/** Batch takes no shorter limit. */
const MIN_DURATION_S = 60;

/** Runs and evals: a job of Batch for each attempt. Batch waits for capacity, but does not retry: decision 0006. */
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
    const queues = spec === undefined ? this.#queues() : [queueOf(this.#params, spec)];
    const ids = await listIn(queues, (jobQueue, nextToken) =>
      api.listJobs({ jobQueue, filters: [{ name: "JOB_NAME", values }], nextToken }),
    );
    return await this.look(ids);
  }

  async listAll(isKnown: (id: string) => boolean): Promise<JobView[]> {
    const api = await this.#apis.batch();
    const lists = await Promise.all(
      LIVING.map((jobStatus) =>
        listIn(this.#queues(), (jobQueue, nextToken) => api.listJobs({ jobQueue, jobStatus, nextToken })),
      ),
    );
    // One that moves on between the lists is in two of them.
    return await this.look([...new Set(lists.flat())].filter((id) => !isKnown(id)));
  }

  #queues(): string[] {
    const targets = Object.values(this.#params.work);
    return [
      ...new Set(targets.flatMap(({ jobQueue, spotJobQueue }) => [jobQueue, spotJobQueue ?? jobQueue])),
    ];
  }

  async look(ids: string[]): Promise<JobView[]> {
    const api = await this.#apis.batch();
    const jobs = await inHundreds(ids, async (some) => (await api.describeJobs({ jobs: some })).jobs ?? []);
    return jobs.flatMap((job) => viewOfJob(this.#params.stack, job) ?? []);
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

function queueOf(params: AwsContainersParams, { hardware }: Pick<ContainerSpec, "hardware">): string {
  const { target, hardwareClass } = targetOf(params.work, hardware);
  return hardware?.spot === true ? spotOf(target.spotJobQueue, hardwareClass) : target.jobQueue;
}

/** What SubmitJob is asked for. */
function submitJobInput(
  params: AwsContainersParams,
  { jobId, kind, environment, hardware, maxLifetimeMs }: ContainerSpec,
): SubmitJobCommandInput {
  const { target } = targetOf(params.work, hardware);
  const gpus = hardware?.gpu === undefined ? 0 : hardware.count;
  return {
    jobName: platformName(params.stack, jobId),
    jobQueue: queueOf(params, { hardware }),
    jobDefinition: target.jobDefinition,
    tags: tagsOf(params.stack, { jobId, kind, maxLifetimeMs }),
    propagateTags: true,
    containerOverrides: {
      environment: Object.entries(environment).map(([name, value]) => ({ name, value })),
      ...(gpus > 0 && { resourceRequirements: [{ type: "GPU", value: String(gpus) }] }),
    },
    // Without a rule that matches, Batch would retry.
    retryStrategy: { attempts: 1, evaluateOnExit: [{ onReason: "*", action: "EXIT" }] },
    ...(maxLifetimeMs !== undefined && {
      timeout: { attemptDurationSeconds: Math.max(MIN_DURATION_S, Math.ceil(maxLifetimeMs / 1000)) },
    }),
  };
}
