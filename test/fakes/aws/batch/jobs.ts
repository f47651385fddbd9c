import type {
  AttemptDetail,
  ContainerOverrides,
  ContainerProperties,
  JobDetail,
} from "@aws-sdk/client-batch";
import type { FakeContainer } from "../containers.ts";
import { arn } from "../ids.ts";
import type { Instance, Lease, Pool } from "../pool.ts";
import { startProblemOf, type World } from "../world.ts";
import { logStreamOf, needsOf, runOf } from "./job-parts.ts";
import { retries, type AttemptEnd } from "./retry.ts";

export interface Queue {
  name: string;
  arn: string;
  /** In the order in which they are tried; none: Fargate, which always has room. */
  pools: Pool[];
  /** Cancels a job that waits in RUNNABLE for this long with a status reason that starts with `reason`. */
  timeLimits: { reason: string; maxTimeSeconds: number }[];
}

export interface JobRecord {
  job: JobDetail & { jobId: string; jobName: string; status: string; attempts: AttemptDetail[] };
  queue: Queue;
  properties: ContainerProperties;
  overrides: ContainerOverrides;
  container: FakeContainer | undefined;
  lease: { pool: Pool; lease: Lease } | undefined;
  instance: Instance | undefined;
  /** Why the attempt ends, when it is not the container's own doing. */
  ending: { statusReason: string; mayRetry: boolean; codeLost?: boolean } | undefined;
  cancelTimeout: () => void;
  attemptStartedAtMs: number | undefined;
  /** One node of a job over several: variables that tell its place, and who is told when it moves on. */
  node?: { environment: Record<string, string>; moved: () => void };
  /** Of a job over several nodes: the main one, which it is ended by. */
  main?: JobRecord;
}

const keptMs = 7 * 24 * 3_600_000;
const graceMs = 30_000;

/** The life of jobs: SUBMITTED, PENDING, RUNNABLE, STARTING, RUNNING, and RUNNABLE again or SUCCEEDED or FAILED. */
export class Jobs {
  readonly records = new Map<string, JobRecord>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  submit(record: JobRecord): void {
    this.records.set(record.job.jobId, record);
    this.#to(record, "SUBMITTED");
    const { clock, delays } = this.#world;
    clock.after(delays.jobQueueingMs, () => {
      if (finished(record)) return;
      this.#to(record, "PENDING");
      clock.after(delays.jobQueueingMs, () => this.#release(record));
    });
  }

  /** Ends it in any state; it is not retried. A job that has not started is FAILED at once. */
  terminate(record: JobRecord, statusReason: string, kind: "isTerminated" | "isCancelled"): void {
    const { job } = record;
    if (finished(record)) return;
    job[kind] = true;
    if (record.main !== undefined) return this.terminate(record.main, statusReason, kind);
    if (job.status !== "STARTING" && job.status !== "RUNNING") {
      job.statusReason = statusReason;
      return this.#finish(record, "FAILED");
    }
    record.ending = { statusReason, mayRetry: false };
    if (record.container !== undefined) this.#world.containers.stop(record.container, graceMs);
  }

  /** Jobs that wait for others move on when those have succeeded, and fail with them. */
  #release(record: JobRecord): void {
    if (finished(record)) return;
    const before = (record.job.dependsOn ?? []).map(({ jobId }) => this.records.get(jobId ?? ""));
    if (before.some((each) => each?.job.status === "FAILED")) {
      record.job.statusReason = "Dependent Job failed";
      return this.#finish(record, "FAILED");
    }
    if (before.some((each) => each !== undefined && each.job.status !== "SUCCEEDED")) {
      this.#world.clock.after(this.#world.delays.jobQueueingMs, () => this.#release(record));
      return;
    }
    this.#runnable(record);
  }

  #runnable(record: JobRecord): void {
    if (finished(record)) return;
    this.#to(record, "RUNNABLE");
    this.#watchTimeLimits(record);
    const needs = needsOf(record.properties, record.overrides);
    const { pools } = record.queue;
    const fitting = pools.filter((each) => each.couldFit(needs));
    const pool = fitting.find(({ problem }) => problem === undefined) ?? fitting[0];
    if (pools.length === 0) {
      this.#world.clock.after(0, () => this.#starting(record));
    } else if (pool === undefined) {
      record.job.statusReason =
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job's resources fit no instance type of its compute environments.";
    } else {
      const lease = pool.acquire({
        needs,
        onPlaced: (instance) => {
          record.instance = instance;
          record.job.container = { ...record.job.container, containerInstanceArn: instanceArnOf(instance) };
          this.#starting(record);
        },
        onLost: (why) => this.hostLost(record, why),
      });
      record.lease = { pool, lease };
    }
  }

  #watchTimeLimits(record: JobRecord): void {
    for (const { reason, maxTimeSeconds } of record.queue.timeLimits) {
      const attempts = record.job.attempts.length;
      this.#world.clock.after(maxTimeSeconds * 1000, () => {
        const waits = record.job.status === "RUNNABLE" && record.job.attempts.length === attempts;
        if (waits && (this.statusReasonOf(record) ?? "").startsWith(reason)) {
          this.terminate(
            record,
            `Canceled by JobStateTimeLimit action due to reason: ${reason}`,
            "isCancelled",
          );
        }
      });
    }
  }

  #starting(record: JobRecord): void {
    if (finished(record)) return this.#freeRoom(record);
    record.job.statusReason = undefined;
    this.#to(record, "STARTING");
    this.#world.clock.after(this.#world.delays.jobStartingMs, () => void this.#run(record));
  }

  async #run(record: JobRecord): Promise<void> {
    if (record.ending !== undefined) return this.#attemptEnded(record, undefined, undefined);
    const problem = await this.#start(record);
    if (problem !== undefined) {
      record.ending ??= { statusReason: "Task failed to start", mayRetry: true };
      return this.#attemptEnded(record, undefined, problem);
    }
    const container = record.container;
    if (container === undefined) return;
    const now = this.#world.clock.now();
    record.attemptStartedAtMs = now;
    record.job.startedAt = now;
    this.#to(record, "RUNNING");
    // Terminated while it was starting.
    if (record.ending !== undefined) this.#world.containers.stop(container, graceMs);
    const seconds = record.job.timeout?.attemptDurationSeconds;
    if (seconds !== undefined) {
      record.cancelTimeout = this.#world.clock.after(seconds * 1000, () => {
        record.ending = { statusReason: "Job attempt duration exceeded timeout", mayRetry: false };
        this.#world.containers.stop(container, graceMs);
      });
    }
    void container.exited.then(({ code, reason }) => this.#attemptEnded(record, code, reason));
  }

  /** Why it does not start, if it does not. */
  async #start(record: JobRecord): Promise<string | undefined> {
    const injected = this.#world.startFailures.take(record.job.jobName);
    if (injected !== undefined) return injected;
    try {
      record.container = await this.#world.containers.start(record.properties, runOf(record, this.#world));
      return undefined;
    } catch (error) {
      return startProblemOf(error);
    }
  }

  #attemptEnded(record: JobRecord, code: number | undefined, reason: string | undefined): void {
    const { job, ending } = record;
    record.cancelTimeout();
    const statusReason = ending?.statusReason ?? "Essential container in task exited";
    const exitCode = ending?.codeLost === true ? undefined : code;
    const end: AttemptEnd = { exitCode, reason, statusReason };
    const now = this.#world.clock.now();
    job.attempts.push({
      container: {
        exitCode,
        reason,
        logStreamName: logStreamOf(record),
        taskArn: taskArnOf(record),
        containerInstanceArn: job.container?.containerInstanceArn,
        networkInterfaces: [],
      },
      startedAt: record.attemptStartedAtMs,
      stoppedAt: now,
      statusReason,
    });
    job.container = { ...job.container, exitCode, reason };
    job.statusReason = statusReason;
    record.container = undefined;
    record.ending = undefined;
    record.attemptStartedAtMs = undefined;
    this.#freeRoom(record);
    const succeeded = ending === undefined && code === 0;
    if (succeeded) return this.#finish(record, "SUCCEEDED");
    const again = (ending?.mayRetry ?? true) && retries(job.retryStrategy ?? {}, job.attempts.length, end);
    if (again) this.#runnable(record);
    else this.#finish(record, "FAILED");
  }

  hostLost(record: JobRecord, why: string): void {
    if (record.ending !== undefined) return;
    record.ending = { statusReason: why, mayRetry: true, codeLost: true };
    // The instance shuts down in order: containers are asked to end before they are cut off.
    if (record.container !== undefined) this.#world.containers.stop(record.container, graceMs);
  }

  /** While it waits, why: Batch says so once a launch has failed. */
  statusReasonOf({ job, lease, main }: JobRecord): string | undefined {
    if (main !== undefined) return this.statusReasonOf(main);
    const problem =
      job.status === "RUNNABLE" && lease?.lease.instance === undefined ? lease?.pool.problem : undefined;
    if (problem === undefined || lease?.pool.activities[0]?.status !== "Failed") return job.statusReason;
    const detail =
      problem.error === "VcpuLimitExceeded"
        ? `VcpuLimitExceeded: ${lease.pool.activities[0].message ?? ""}`
        : `Service cannot fulfill the capacity requested for instance type [${lease.pool.settings.instanceType}]`;
    return `CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - ${detail}`;
  }

  #freeRoom(record: JobRecord): void {
    record.lease?.pool.release(record.lease.lease);
    record.lease = undefined;
    record.instance = undefined;
  }

  #finish(record: JobRecord, status: "SUCCEEDED" | "FAILED"): void {
    this.#freeRoom(record);
    record.job.stoppedAt = this.#world.clock.now();
    this.#to(record, status);
    this.#world.clock.after(keptMs, () => this.records.delete(record.job.jobId));
  }

  /** For the record of a job over several nodes, which is as its main node is. */
  follow(record: JobRecord, status: NonNullable<JobDetail["status"]>): void {
    this.records.set(record.job.jobId, record);
    this.#to(record, status);
  }

  #to(record: JobRecord, status: NonNullable<JobDetail["status"]>): void {
    const { job } = record;
    job.status = status;
    if (job.container !== undefined && status === "RUNNING") {
      job.container.logStreamName = logStreamOf({ job });
      job.container.taskArn = taskArnOf({ job });
    }
    this.#world.events.publish("aws.batch", "Batch Job State Change", [job.jobArn ?? ""], { ...job });
    record.node?.moved();
  }
}

/** Batch keeps an ECS cluster of its own for each compute environment. */
export const clusterNameOf = (pool: string): string => `AWSBatch-${pool}`;

const instanceArnOf = ({ pool, id }: Instance): string =>
  arn("ecs", `container-instance/${clusterNameOf(pool)}/${id}`);

export const finished = ({ job }: Pick<JobRecord, "job">): boolean =>
  job.status === "SUCCEEDED" || job.status === "FAILED";

const taskArnOf = ({ job }: Pick<JobRecord, "job">): string =>
  arn("ecs", `task/batch/${job.jobId}-${job.attempts.length + (finished({ job }) ? 0 : 1)}`);
