import { describe, expect, it } from "vitest";
import {
  jobState,
  newerJob,
  viewOfJob,
  type JobView,
} from "../../../../functions/aws/batch-containers/job-state.ts";

const base: JobView = {
  id: "batch-1",
  jobId: "train-run-1-a1",
  kind: "train",
  status: "RUNNING",
  createdAtMs: 1,
  startedAtMs: 2,
  isTerminated: false,
};
const failed = (more: Partial<JobView>): JobView => ({
  ...base,
  status: "FAILED",
  statusReason: "Essential container in task exited",
  ...more,
});
const neverStarted = (statusReason: string, more: Partial<JobView> = {}) =>
  failed({ startedAtMs: undefined, statusReason, ...more });

describe("the state of a job of Batch", () => {
  it.each([
    ["SUBMITTED", "waiting"],
    ["PENDING", "waiting"],
    ["RUNNABLE", "waiting"],
    ["STARTING", "starting"],
    ["RUNNING", "running"],
    ["SUCCEEDED", "exited"],
    ["FAILED", "exited"],
  ])("%s is %s", (status, state) => {
    expect(jobState({ ...base, status }).state).toBe(state);
  });

  it.each([
    ["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested", "capacity"],
    ["MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - The job's resources exceed maxvCpus", "capacity"],
    ["MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - fits no instance type", "capacity"],
    ["VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit", "quota"],
  ])("waits, and says why: %s", (statusReason, reason) => {
    const state = jobState({ ...base, status: "RUNNABLE", startedAtMs: undefined, statusReason });
    expect(state).toEqual({ state: "waiting", reason, detail: statusReason });
  });

  it.each([
    ["ended well", { ...base, status: "SUCCEEDED", exitCode: 0 }, [], "done"],
    ["ended badly", failed({ exitCode: 3 }), [], "error"],
    [
      "lost its spot instance",
      failed({ statusReason: "Host EC2 (instance i-0123) terminated." }),
      [],
      "preempted",
    ],
    [
      "saved before its spot instance went",
      failed({ isTerminated: true, exitCode: 143, statusReason: "spotter: spot instance is taken back" }),
      [],
      "preempted",
    ],
    ["got a SIGTERM that nobody here sent", failed({ exitCode: 143 }), [], "preempted"],
    [
      "was asked to stop",
      failed({ isTerminated: true, exitCode: 143, statusReason: "spotter: asked to stop" }),
      [],
      "user",
    ],
    [
      "was stopped by a person",
      failed({ isTerminated: true, exitCode: 143, statusReason: "enough" }),
      [],
      "user",
    ],
    [
      "was taken out of the queue",
      neverStarted("spotter: asked to stop", { isTerminated: true }),
      [],
      "user",
    ],
    [
      "waited as long as its queue allows",
      neverStarted(
        "Canceled by JobStateTimeLimit action due to reason: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
        { isTerminated: true },
      ),
      [],
      "capacity",
    ],
    [
      "ran out of memory",
      failed({ exitCode: 137, containerReason: "OutOfMemoryError: Container killed due to memory usage" }),
      [],
      "oom",
    ],
    ["ran out of GPU memory", failed({ exitCode: 1 }), ["RuntimeError: CUDA error: out of memory"], "oom"],
    [
      "found no image",
      neverStarted("Task failed to start", { containerReason: "CannotPullContainerError: not found" }),
      [],
      "image",
    ],
    [
      "hung",
      failed({ statusReason: "Job attempt duration exceeded timeout", isTerminated: true, exitCode: 137 }),
      [],
      "error",
    ],
  ] as const)("one that %s", (_what, job, logTail, reason) => {
    expect(jobState(job, { logTail: [...logTail] })).toMatchObject({ state: "exited", reason });
  });

  it("is over for good once it is over", () => {
    const over = failed({ exitCode: 1 });
    expect(newerJob(over, base)).toBe(over);
    expect(newerJob(over, { ...base, status: "SUCCEEDED" })).toBe(over);
    expect(newerJob(base, over)).toBe(over);
  });

  it("is read from its last attempt where its container tells nothing", () => {
    const tags = { "spotter:stack": "s", "spotter:job": "train-run-1-a1", "spotter:kind": "train" };
    const job = viewOfJob("s", {
      jobId: "batch-1",
      jobName: "name",
      jobQueue: "queue",
      jobDefinition: "definition",
      status: "FAILED",
      startedAt: 0,
      tags,
      attempts: [{ container: { exitCode: 9, reason: "why", logStreamName: "stream" } }],
    });
    expect(job).toMatchObject({
      exitCode: 9,
      containerReason: "why",
      logStream: "stream",
      startedAtMs: undefined,
    });
  });
});
