import { describe, expect, it } from "vitest";
import { decideEndpoint } from "../../../functions/reconciler/decide-endpoint.ts";
import type { EndpointView, JobView, ReplicaView } from "../../../functions/reconciler/views.ts";
import { NOW, policy } from "./policy.ts";

function replica(
  id: string,
  state: ReplicaView["state"] = "ready",
  inFlight = 0,
  changes: Partial<JobView> = {},
): ReplicaView {
  const job: JobView = {
    id,
    attempt: 1,
    startedAtMs: NOW - 5_000,
    heartbeatAtMs: NOW - 100,
    container: { state: "running" },
    ...(state === "ready" && { address: `${id}:1` }),
    ...changes,
  };
  return { state, revision: 1, inFlight, job };
}

function endpoint(desired: number, replicas: ReplicaView[], changes: Partial<EndpointView> = {}) {
  const view: EndpointView = { name: "e", state: "ready", desired, revision: 1, startFailures: 0, replicas };
  return decideEndpoint({ ...view, ...changes }, NOW, policy);
}

function drained(actions: ReturnType<typeof decideEndpoint>): string[] {
  return actions.flatMap((action) => (action.type === "drain-replica" ? [action.jobId] : []));
}

const types = (actions: { type: string }[]) => actions.map(({ type }) => type);
const exited: Partial<JobView> = {
  container: { state: "exited", exitCode: 1, reason: "error", logTail: [] },
};

describe("decideEndpoint with several replicas", () => {
  it("adds what is missing at once, twenty at a time", () => {
    expect(types(endpoint(3, [replica("a")]))).toEqual(["add-replica", "add-replica"]);
    expect(endpoint(500, [])).toHaveLength(20);
  });

  it("takes those that start first, then idle ones oldest first, then the least loaded (15)", () => {
    const replicas = [
      replica("busy", "ready", 5),
      replica("idle-old", "ready"),
      replica("light", "ready", 1),
      replica("idle-new", "ready"),
      replica("loading-old", "loading"),
      replica("loading-new", "loading"),
    ];
    expect(drained(endpoint(5, replicas))).toEqual(["loading-new"]);
    expect(drained(endpoint(3, replicas)).sort()).toEqual(["idle-old", "loading-new", "loading-old"]);
    expect(drained(endpoint(1, replicas))).not.toContain("busy");
    expect(drained(endpoint(1, replicas))).toHaveLength(5);
  });

  it("drains first, and stops only what has nothing in flight (14)", () => {
    expect(types(endpoint(0, [replica("a")]))).toEqual(["drain-replica"]);
    expect(types(endpoint(0, [replica("a", "draining", 1)]))).toEqual([]);
    expect(types(endpoint(0, [replica("a", "draining", 0)]))).toEqual(["stop-replica"]);
    expect(types(endpoint(1, [replica("a"), replica("b", "draining", 3)]))).toEqual([]);
  });

  it("does not wait for the last request of a replica that is silent", () => {
    const silent = replica("a", "draining", 2, { heartbeatAtMs: NOW - 20_000 });
    expect(types(endpoint(0, [silent]))).toEqual(["stop-replica"]);
  });

  it("stops at once what its owner stops", () => {
    const actions = endpoint(0, [replica("a", "ready", 2)], { state: "stopping" });
    expect(types(actions)).toEqual(["drain-replica", "stop-replica"]);
  });

  it("lets the old revision finish what it works on (20)", () => {
    const old = { ...replica("old", "draining", 1), revision: 1 };
    const next = { ...replica("new"), revision: 2 };
    expect(types(endpoint(1, [old, next], { revision: 2 }))).toEqual([]);
  });

  it("starts one at a time while starts fail", () => {
    expect(types(endpoint(10, [], { startFailures: 1 }))).toEqual(["add-replica"]);
    expect(types(endpoint(10, [replica("a", "loading")], { startFailures: 1 }))).toEqual([]);
    expect(types(endpoint(10, [], { startFailures: 1, retryAtMs: NOW + 1 }))).toEqual([]);
  });

  it("keeps what serves when more does not start, whatever the reason (12)", () => {
    const failure = { code: "model_corrupt", message: "bad weights" };
    const broken = replica("b", "loading", 0, { exit: { outcome: "failed", failure } });
    const actions = endpoint(2, [replica("a", "ready", 1), broken], { startFailures: 7 });
    expect(actions).toMatchObject([{ type: "replica-lost", jobId: "b", retryAtMs: NOW + 60_000 }]);
  });

  it("replaces the one that is ill among healthy ones", () => {
    const actions = endpoint(2, [replica("a"), replica("b", "ready", 4, exited)]);
    expect(actions).toMatchObject([{ type: "replica-lost", jobId: "b" }]);
  });

  it("sleeps without a replica and without anything to do", () => {
    expect(endpoint(0, [])).toEqual([]);
  });
});
