import { describe, expect, it } from "vitest";
import { decide } from "../../../functions/reconciler/decide.ts";
import { platformFailure, roomLoss } from "../../../functions/reconciler/platform-failure.ts";
import { isWorthRetrying } from "../../../functions/reconciler/liveness.ts";
import type { EndpointView, JobView } from "../../../functions/reconciler/views.ts";
import type { ContainerState } from "../../../functions/ports/containers.ts";
import { NOW, policy } from "./policy.ts";

type Exited = Extract<ContainerState, { state: "exited" }>;
const exited = (reason: Exited["reason"], detail?: string): Exited => ({
  state: "exited",
  exitCode: 1,
  reason,
  logTail: ["last line"],
  ...(detail !== undefined && { detail }),
});

describe("what a platform is sure of", () => {
  it.each([
    ["capacity", "no_capacity", true],
    ["quota", "cloud_quota_exceeded", false],
    ["image", "image_unavailable", false],
    ["oom", "memory_exceeded", false],
    ["user", "user_cancelled", false],
  ] as const)("%s is %s; worth another try: %s", (reason, code, mayHelp) => {
    const failure = platformFailure(exited(reason, "its words"));
    expect(failure).toMatchObject({ code, logTail: ["last line"] });
    expect(failure?.message).toContain("its words");
    expect(failure?.hint).toBeTruthy();
    expect(isWorthRetrying(code)).toBe(mayHelp);
  });

  it("is taken as it is where the platform says it in our words", () => {
    const failure = { code: "gpu_missing", message: "No GPU.", hint: "Install one." };
    expect(platformFailure({ ...exited("error"), failure })).toEqual({ ...failure, logTail: ["last line"] });
  });

  it.each(["oom", "user", "image", "error", "preempted", "done"] as const)(
    "leaves %s to exit code and log where it says nothing",
    (reason) => {
      expect(platformFailure(exited(reason))).toBeUndefined();
    },
  );
});

describe("a replica without room", () => {
  const MINUTE_MS = 60_000;
  const waits = (more: Partial<JobView> = {}): JobView => ({
    id: "serve-base-r1-1",
    attempt: 1,
    createdAtMs: NOW,
    container: { state: "waiting", reason: "capacity", detail: "InsufficientInstanceCapacity" },
    ...more,
  });
  const endpoint = (job: JobView): EndpointView => ({
    name: "base",
    state: "creating",
    desired: 1,
    revision: 1,
    startFailures: 0,
    replicas: [{ state: "waiting", revision: 1, inFlight: 0, job }],
  });
  const decideAt = (job: JobView, afterMs: number) =>
    decide({ works: [], endpoints: [endpoint(job)], containers: [] }, NOW + afterMs, policy);

  it("is waited for in patience, then given up with the reason, and another one tried", () => {
    expect(roomLoss(waits(), NOW + 15 * MINUTE_MS, policy)).toBeUndefined();
    // Told at once what it waits for.
    expect(decideAt(waits(), 15 * MINUTE_MS)).toMatchObject([
      { type: "replica-state", waitingFor: "capacity" },
    ]);
    expect(decideAt(waits(), 16 * MINUTE_MS)).toMatchObject([
      {
        type: "replica-lost",
        failure: {
          code: "no_capacity",
          message: "No instance is to be had: waited 16 minutes; InsufficientInstanceCapacity.",
        },
      },
    ]);
  });

  it("fails its endpoint at a quota, which does not go away", () => {
    const job = waits({ container: { state: "waiting", reason: "quota", detail: "VcpuLimitExceeded" } });
    expect(decideAt(job, 16 * MINUTE_MS)).toMatchObject([
      { type: "fail-endpoint", failure: { code: "cloud_quota_exceeded" } },
    ]);
  });

  it("is launched again while it is refused, and no longer", () => {
    const refused = waits({ container: { state: "unknown" } });
    expect(decideAt(refused, MINUTE_MS)).toMatchObject([{ type: "launch-job" }]);
    expect(decideAt(refused, 16 * MINUTE_MS)).toMatchObject([{ type: "replica-lost" }]);
  });

  it("has time after the control plane was away", () => {
    const job = waits();
    const late = { ...policy, leasesFromMs: NOW + 60 * MINUTE_MS };
    expect(roomLoss(job, NOW + 61 * MINUTE_MS, late)).toBeUndefined();
    expect(roomLoss(job, NOW + 76 * MINUTE_MS, late)).toBeDefined();
  });

  it("is none where it has started once", () => {
    const started = waits({ startedAtMs: NOW, container: { state: "running" } });
    expect(roomLoss(started, NOW + 60 * MINUTE_MS, policy)).toBeUndefined();
  });
});
