import { describe, expect, it } from "vitest";
import { newerTask, taskState, type TaskView } from "../../../../functions/aws/ecs-containers/task-state.ts";

const base: TaskView = {
  id: "arn:task/1",
  jobId: "serve-base-r1-1",
  kind: "serve",
  version: 3,
  lastStatus: "RUNNING",
  createdAtMs: 0,
};
const stopped = (more: Partial<TaskView>): TaskView => ({
  ...base,
  lastStatus: "STOPPED",
  stopCode: "EssentialContainerExited",
  stoppedReason: "Essential container in task exited",
  ...more,
});
const failedStart = (stoppedReason: string) => stopped({ stopCode: "TaskFailedToStart", stoppedReason });
const pull = (what: string) => failedStart(`CannotPullContainerError: ${what}`);

describe("the state of a task", () => {
  it.each([
    ["PROVISIONING", "waiting"],
    ["PENDING", "starting"],
    ["ACTIVATING", "starting"],
    ["RUNNING", "running"],
    // It is gone when it has stopped, and not before.
    ["DEACTIVATING", "running"],
    ["STOPPING", "running"],
    ["DEPROVISIONING", "running"],
    ["STOPPED", "exited"],
  ])("%s is %s", (lastStatus, state) => {
    expect(taskState({ ...base, lastStatus }).state).toBe(state);
  });

  it.each([
    ["ended well", stopped({ exitCode: 0 }), [], "done"],
    ["ended badly", stopped({ exitCode: 1 }), [], "error"],
    [
      "was asked to stop",
      stopped({ exitCode: 143, stopCode: "UserInitiated", stoppedReason: "spotter: asked to stop" }),
      [],
      "user",
    ],
    [
      "was stopped by a person",
      stopped({ exitCode: 143, stopCode: "UserInitiated", stoppedReason: "Task stopped by user" }),
      [],
      "user",
    ],
    ["was stopped by force when asked", stopped({ exitCode: 137, stopCode: "UserInitiated" }), [], "user"],
    [
      "was told to save by us, its instance going",
      stopped({
        exitCode: 143,
        stopCode: "UserInitiated",
        stoppedReason: "spotter: spot instance is taken back",
      }),
      [],
      "preempted",
    ],
    [
      "lost a spot task of Fargate",
      stopped({ stopCode: "SpotInterruption", stoppedReason: "Your Spot Task was interrupted." }),
      [],
      "preempted",
    ],
    [
      "lost its host",
      stopped({ stopCode: "TerminationNotice", stoppedReason: "Host EC2 (instance i-0123) terminated." }),
      [],
      "preempted",
    ],
    ["got a SIGTERM that nobody here sent", stopped({ exitCode: 143 }), [], "preempted"],
    [
      "ran out of memory",
      stopped({ exitCode: 137, containerReason: "OutOfMemoryError: Container killed due to memory usage" }),
      [],
      "oom",
    ],
    ["was killed and nobody knows why", stopped({ exitCode: 137 }), [], "error"],
    [
      "ran out of GPU memory",
      stopped({ exitCode: 1 }),
      ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"],
      "oom",
    ],
    [
      "found no image",
      pull("pull image manifest has been retried 1 time(s): docker.io/library/nope:1: not found"),
      [],
      "image",
    ],
    [
      "may not pull",
      pull("pull access denied, repository does not exist or may require authorization"),
      [],
      "image",
    ],
    ["has no login", pull("401 Unauthorized"), [], "image"],
    [
      "has an image for other machines",
      pull("image Manifest does not contain descriptor matching platform: no match for platform"),
      [],
      "image",
    ],
    ["has an image named like us", pull("ghcr.io/spotter/spot-agent:1: not found"), [], "image"],
    [
      "pulled too slowly",
      pull("context deadline exceeded (Client.Timeout exceeded while awaiting headers)"),
      [],
      "error",
    ],
    ["pulled too often", pull("429 Too Many Requests - toomanyrequests"), [], "error"],
    [
      "found no room",
      failedStart(
        "Capacity is unavailable at this time. Please try again later or in a different availability zone",
      ),
      [],
      "capacity",
    ],
    ["found no GPU", failedStart("RESOURCE:GPU"), [], "capacity"],
    [
      "met a quota",
      failedStart("You've reached the limit on the number of vCPUs you can run concurrently"),
      [],
      "quota",
    ],
    [
      "could not read its secrets",
      failedStart("ResourceInitializationError: unable to pull secrets"),
      [],
      "error",
    ],
  ] as const)("one that %s", (_what, task, logTail, reason) => {
    expect(taskState(task, { logTail: [...logTail] })).toMatchObject({ state: "exited", reason, logTail });
  });

  it("tells people what the platform says, and nothing where all went well", () => {
    expect(taskState(pull("not found"))).toMatchObject({ detail: "CannotPullContainerError: not found" });
    expect(taskState(stopped({ exitCode: 0 }))).not.toHaveProperty("detail");
  });

  it("waits for what its group of instances lacks", () => {
    const task = { ...base, lastStatus: "PROVISIONING" };
    expect(taskState(task)).toEqual({ state: "waiting", reason: "capacity" });
    const why =
      "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0 allows";
    expect(taskState(task, { why })).toEqual({ state: "waiting", reason: "quota", detail: why });
    expect(taskState(task, { why: "InsufficientInstanceCapacity: …" })).toMatchObject({ reason: "capacity" });
  });
});

describe("the newer of two views", () => {
  const at = (version: number, lastStatus: string): TaskView => ({ ...base, version, lastStatus });
  it("goes by the version, and an end is final", () => {
    expect(newerTask(undefined, at(1, "PENDING"))).toEqual(at(1, "PENDING"));
    expect(newerTask(at(4, "RUNNING"), at(2, "PENDING"))).toEqual(at(4, "RUNNING"));
    expect(newerTask(at(2, "PENDING"), at(4, "RUNNING"))).toEqual(at(4, "RUNNING"));
    expect(newerTask(at(6, "STOPPED"), at(7, "RUNNING"))).toEqual(at(6, "STOPPED"));
    expect(newerTask(at(6, "RUNNING"), at(5, "STOPPED"))).toEqual(at(5, "STOPPED"));
  });
  it("is the known one where it is told again", () => {
    const known = at(4, "RUNNING");
    expect(newerTask(known, at(4, "RUNNING"))).toBe(known);
  });
});
