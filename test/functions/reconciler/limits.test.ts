import { describe, expect, it } from "vitest";
import type { Charge } from "../../../sdk/schema/cost.ts";
import type { ContainerState } from "../../../functions/ports/containers.ts";
import { decideEndpoint } from "../../../functions/reconciler/decide-endpoint.ts";
import { decideWork } from "../../../functions/reconciler/decide-work.ts";
import type { EndpointView, JobView, ReplicaView, WorkView } from "../../../functions/reconciler/views.ts";
import { policy } from "./policy.ts";

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const PREEMPTED: ContainerState = { state: "exited", exitCode: 143, reason: "preempted", logTail: [] };

function job(changes: Partial<JobView> = {}): JobView {
  const base = { id: "j", attempt: 1, startedAtMs: NOW - HOUR, heartbeatAtMs: NOW - 100 };
  return { ...base, container: { state: "running" }, ...changes };
}

function work(changes: Partial<WorkView> = {}): WorkView {
  const base = { kind: "train", id: "r", stage: "active", isWorking: true, attempt: 1, losses: 0 } as const;
  return { ...base, expired: false, job: job(), ...changes };
}

function charge(hourlyUsd: number, startedAtMs?: number, endedAtMs?: number): Charge {
  return { instance: "g5.xlarge", gpus: 1, spot: false, attempt: 1, hourlyUsd, startedAtMs, endedAtMs };
}

const types = (actions: { type: string }[]) => actions.map(({ type }) => type);

describe("a budget", () => {
  it.each([
    ["leaves work alone that is below it", 2.5, 2, []],
    ["is told to work that has come up to it", 2, 2, ["expire"]],
    ["keeps back what saving costs: two minutes of $2 an hour", 2.06, 2, ["expire"]],
    ["keeps back no more than that", 2.07, 2, []],
    ["keeps back at most a tenth of itself", 0.1, 100, ["expire"]],
  ])("%s", (_name, maxCostUsd, hourlyUsd, expected) => {
    const view = work({ maxCostUsd, charges: [charge(hourlyUsd, NOW - HOUR)] });
    expect(types(decideWork(view, NOW, policy))).toEqual(expected);
  });

  it("of a tenth of a dollar at $100 an hour still lets three seconds pass", () => {
    const view = work({ maxCostUsd: 0.1, charges: [charge(100, NOW - 3_000)] });
    expect(decideWork(view, NOW, policy)).toEqual([]);
  });

  it("counts all attempts, those that have ended too", () => {
    const charges = [charge(2, NOW - 9 * HOUR, NOW - 8 * HOUR), charge(2, NOW - HOUR)];
    expect(decideWork(work({ charges, maxCostUsd: 5 }), NOW, policy)).toEqual([]);
    expect(decideWork(work({ charges, maxCostUsd: 4 }), NOW, policy)).toMatchObject([
      { type: "expire", limit: "budget", message: "The run has cost $4.00 of at most $4.00." },
    ]);
  });

  it("costs nothing while it waits for capacity", () => {
    const container = { state: "waiting", reason: "capacity" } as const;
    const view = work({
      waitingFor: "capacity",
      maxCostUsd: 1,
      charges: [charge(100)],
      job: job({ container }),
    });
    expect(decideWork(view, NOW, policy)).toEqual([]);
  });

  it("begins no attempt that it cannot pay for", () => {
    const charges = [charge(2, NOW - 2 * HOUR, NOW - HOUR)];
    const queued = { stage: "queued", retryAtMs: NOW + HOUR, charges } as const;
    expect(decideWork(work({ ...queued, maxCostUsd: 2 }), NOW, policy)).toMatchObject([
      { type: "finish", outcome: "failed", failure: { code: "budget_exceeded" } },
    ]);
    expect(decideWork(work({ ...queued, maxCostUsd: 3 }), NOW, policy)).toEqual([]);
  });

  it("ends as failed what it stopped, once it has saved or its time to is over", () => {
    const told = { overBudget: true, maxCostUsd: 2, charges: [charge(2, NOW - HOUR)] };
    const saving = work({ ...told, cancelAtMs: NOW - 59_000 });
    expect(decideWork(saving, NOW, policy)).toEqual([]);
    for (const view of [
      work({ ...told, cancelAtMs: NOW - 1_000, job: job({ exit: { outcome: "cancelled" } }) }),
      work({ ...told, cancelAtMs: NOW - 60_000 }),
    ])
      expect(decideWork(view, NOW, policy)).toMatchObject([
        { type: "finish", outcome: "failed", failure: { code: "budget_exceeded" } },
      ]);
  });

  it("does not take away a success that came at the same time", () => {
    const exit = { outcome: "succeeded" } as const;
    const view = work({ overBudget: true, cancelAtMs: NOW, job: job({ exit }) });
    expect(decideWork(view, NOW, policy)).toMatchObject([{ type: "finish", outcome: "succeeded" }]);
  });
});

describe("a spot container that is taken back", () => {
  it.each([
    ["without a word", job({ container: PREEMPTED })],
    ["after it has saved", job({ container: PREEMPTED, exit: { outcome: "cancelled" } })],
  ])("%s costs the run no attempt", (_name, each) => {
    expect(decideWork(work({ losses: 2, job: each }), NOW, policy)).toMatchObject([
      { type: "requeue", counts: "preemption", failure: { code: "preempted" }, retryAtMs: NOW + 1_000 },
    ]);
  });

  it("has a limit of its own", () => {
    const view = work({ preemptions: policy.maxPreemptions - 1, job: job({ container: PREEMPTED }) });
    expect(decideWork(view, NOW, policy)).toMatchObject([
      { type: "finish", outcome: "failed", failure: { code: "preempted" } },
    ]);
  });

  it("backs off by how often it was taken back, not by how often it crashed", () => {
    const view = work({ preemptions: 2, losses: 1, job: job({ container: PREEMPTED }) });
    expect(decideWork(view, NOW, policy)).toMatchObject([{ retryAtMs: NOW + 4_000 }]);
  });

  it("is judged by what its platform says, for as long as its lease (38)", () => {
    const exit = { outcome: "cancelled" } as const;
    const leaving = work({ job: job({ exit, spot: true }) });
    expect(decideWork(leaving, NOW, policy)).toEqual([]);
    expect(decideWork(leaving, NOW + policy.leaseMs, policy)).toMatchObject([
      { type: "requeue", counts: "loss", failure: { code: "container_lost" } },
    ]);
    expect(decideWork(work({ job: job({ exit }) }), NOW, policy)).toMatchObject([{ counts: "loss" }]);
  });

  it("keeps the failure that the run itself has told", () => {
    const failure = { code: "reward_failed", message: "threw" };
    const view = work({ job: job({ container: PREEMPTED, exit: { outcome: "failed", failure } }) });
    expect(decideWork(view, NOW, policy)).toMatchObject([{ type: "finish", failure }]);
  });

  it("is replaced at once where it was a replica, and its endpoint does not fail", () => {
    const taken: ReplicaView = {
      state: "ready",
      revision: 1,
      inFlight: 1,
      job: job({ container: PREEMPTED }),
    };
    const view = endpoint({ startFailures: 2, replicas: [taken] });
    expect(types(decideEndpoint(view, NOW, policy))).toEqual(["drop-replica"]);
  });
});

describe("a container that its home ended because of its age", () => {
  it("costs the run no attempt", () => {
    const gone = { container: { state: "unknown" }, maxLifetimeMs: HOUR } as const;
    expect(decideWork(work({ losses: 2, job: job(gone) }), NOW, policy)).toMatchObject([
      { type: "requeue", counts: "nothing", retryAtMs: NOW + 2_000 },
    ]);
    const early = { ...gone, startedAtMs: NOW - HOUR + 1 };
    expect(decideWork(work({ losses: 2, job: job(early) }), NOW, policy)).toMatchObject([{ type: "finish" }]);
  });
});

function endpoint(changes: Partial<EndpointView> = {}): EndpointView {
  const base = { name: "e", state: "ready", desired: 1, revision: 1, startFailures: 0 } as const;
  return { ...base, replicas: [], ...changes };
}

describe("an endpoint's longest life", () => {
  it("stops it then, busy or asleep, and not before", () => {
    const asleep = endpoint({ desired: 0, expiresAtMs: NOW });
    expect(decideEndpoint(asleep, NOW, policy)).toEqual([{ type: "expire-endpoint", endpoint: "e" }]);
    expect(decideEndpoint(asleep, NOW - 1, policy)).toEqual([]);
  });

  it("does not hold up one that is stopping already", () => {
    const stopping = endpoint({ state: "stopping", desired: 0, expiresAtMs: NOW });
    expect(types(decideEndpoint(stopping, NOW, policy))).toEqual(["endpoint-stopped"]);
  });
});

describe("replicas that their home will end soon", () => {
  const replica = (id: string, changes: Partial<JobView> = {}, state: ReplicaView["state"] = "ready") =>
    ({ state, revision: 1, inFlight: 0, job: job({ id, address: "a:1", ...changes }) }) satisfies ReplicaView;
  const old = (id: string, changes: Partial<JobView> = {}) =>
    replica(id, { maxLifetimeMs: 10 * HOUR, startedAtMs: NOW - 10 * HOUR + policy.startMs, ...changes });

  it("serve until their successors do", () => {
    expect(types(decideEndpoint(endpoint({ replicas: [old("a")] }), NOW, policy))).toEqual(["add-replica"]);
    const early = old("a", { startedAtMs: NOW - 10 * HOUR + policy.startMs + 1 });
    expect(decideEndpoint(endpoint({ replicas: [early] }), NOW, policy)).toEqual([]);
    const both = endpoint({ replicas: [old("a"), replica("b")] });
    expect(decideEndpoint(both, NOW, policy)).toMatchObject([{ type: "drain-replica", jobId: "a" }]);
  });

  it("go one by one, as others come", () => {
    const replicas = [old("a"), old("b"), replica("c")];
    const actions = decideEndpoint(endpoint({ desired: 2, replicas }), NOW, policy);
    expect(actions).toMatchObject([{ type: "drain-replica", jobId: "a" }, { type: "add-replica" }]);
  });

  it("are also those that their platform may take back, once they serve", () => {
    const leaving = replica("a", { isLeaving: true });
    expect(types(decideEndpoint(endpoint({ replicas: [leaving] }), NOW, policy))).toEqual(["add-replica"]);
    const both = endpoint({ replicas: [leaving, replica("b")] });
    expect(decideEndpoint(both, NOW, policy)).toMatchObject([{ type: "drain-replica", jobId: "a" }]);
    const starting = replica("a", { isLeaving: true, startedAtMs: NOW }, "starting");
    expect(types(decideEndpoint(endpoint({ replicas: [starting] }), NOW, policy))).toEqual(["probe-replica"]);
  });

  it("stay where the endpoint itself ends first", () => {
    const view = endpoint({ replicas: [old("a")], expiresAtMs: NOW + 1 });
    expect(decideEndpoint(view, NOW, policy)).toEqual([]);
  });
});
