import { describe, expect, it } from "vitest";
import type { ContainerState } from "../../../functions/ports/containers.ts";
import { decide, nextDeadline } from "../../../functions/reconciler/decide.ts";
import { decideEndpoint } from "../../../functions/reconciler/decide-endpoint.ts";
import { decideWork } from "../../../functions/reconciler/decide-work.ts";
import type { EndpointView, JobView, ReplicaView, WorkView } from "../../../functions/reconciler/views.ts";
import { NOW, policy } from "./policy.ts";

const running: ContainerState = { state: "running" };
const exited: ContainerState = { state: "exited", exitCode: 1, reason: "error", logTail: ["bye"] };

function job(changes: Partial<JobView> = {}): JobView {
  return {
    id: "j",
    attempt: 1,
    startedAtMs: NOW - 5_000,
    heartbeatAtMs: NOW - 100,
    container: running,
    ...changes,
  };
}

function work(changes: Partial<WorkView> = {}): WorkView {
  const base = { kind: "train", id: "r", stage: "active", isWorking: true, attempt: 1, losses: 0 } as const;
  return { ...base, expired: false, job: job(), ...changes };
}

function replica(
  changes: Partial<JobView> = {},
  state: ReplicaView["state"] = "ready",
  revision = 1,
  inFlight = 0,
): ReplicaView {
  return { state, revision, inFlight, job: job({ address: "a:1", ...changes }) };
}

function endpoint(changes: Partial<EndpointView> = {}): EndpointView {
  const base = { name: "e", state: "ready", desired: 1, revision: 1, startFailures: 0 } as const;
  return { ...base, replicas: [replica()], ...changes };
}

/** A container that has waited for room for so long. */
function noRoomFor(waitedMs: number, hasFallbacks: boolean): JobView {
  const container = { state: "waiting", reason: "capacity" } as const;
  return { ...job({ container, createdAtMs: NOW - waitedMs, hasFallbacks }), startedAtMs: undefined };
}

const types = (actions: { type: string }[]) => actions.map(({ type }) => type);

describe("decideWork", () => {
  const table: [string, WorkView, string[]][] = [
    ["queued work begins", work({ stage: "queued", attempt: 0, job: undefined }), ["begin-attempt"]],
    ["backing off it waits", work({ stage: "queued", retryAtMs: NOW + 1 }), []],
    ["its time come it begins", work({ stage: "queued", retryAtMs: NOW }), ["begin-attempt"]],
    ["queued and cancelled it ends", work({ stage: "queued", cancelAtMs: NOW }), ["finish"]],
    ["paused work rests", work({ stage: "paused", job: job({ container: exited }) }), []],
    ["working work is left alone", work(), []],
    [
      "an intent is launched",
      work({ job: job({ startedAtMs: undefined, container: { state: "unknown" } }) }),
      ["launch-job"],
    ],
    [
      "a start is noted",
      work({ isWorking: false, job: job({ startedAtMs: undefined, heartbeatAtMs: undefined }) }),
      ["note-started"],
    ],
    ["the first word is noted", work({ isWorking: false }), ["note-working"]],
    ["the lease holds to its end", work({ job: job({ heartbeatAtMs: NOW - 10_000 }) }), []],
    ["past its lease it is lost", work({ job: job({ heartbeatAtMs: NOW - 10_001 }) }), ["requeue"]],
    [
      "silent from the start it is lost",
      work({ job: job({ startedAtMs: NOW - 10_001, heartbeatAtMs: undefined }) }),
      ["requeue"],
    ],
    [
      "a container that is gone is lost",
      work({ job: job({ container: { state: "unknown" } }) }),
      ["requeue"],
    ],
    ["one that exited without a word is lost", work({ job: job({ container: exited }) }), ["requeue"]],
    ["the last attempt lost is the end", work({ losses: 2, job: job({ container: exited }) }), ["finish"]],
    ["cancelled within its grace it may save", work({ cancelAtMs: NOW - 59_000 }), []],
    ["cancelled past its grace it ends", work({ cancelAtMs: NOW - 60_000 }), ["finish"]],
    ["over its time it is told", work({ durationMs: 10, workingSinceMs: NOW - 10 }), ["expire"]],
    [
      "waiting is noted once",
      work({ waitingFor: "capacity", job: job({ container: { state: "waiting", reason: "capacity" } }) }),
      [],
    ],
    [
      "where another GPU would do it does not wait for ever",
      work({ waitingFor: "capacity", job: noRoomFor(10 * 60_000 + 1, true) }),
      ["requeue"],
    ],
    ["where none would it does", work({ waitingFor: "capacity", job: noRoomFor(60 * 60_000, false) }), []],
    [
      "an eval's waiting needs no note",
      work({ kind: "eval", job: job({ container: { state: "waiting", reason: "capacity" } }) }),
      [],
    ],
  ];
  it.each(table)("%s", (_name, view, expected) => {
    expect(types(decideWork(view, NOW, policy))).toEqual(expected);
  });

  it("judges no lease by time in which it was away itself", () => {
    const silent = work({ job: job({ heartbeatAtMs: NOW - 3_600_000 }) });
    expect(decideWork(silent, NOW, { ...policy, leasesFromMs: NOW - 10_000 })).toEqual([]);
    expect(types(decideWork(silent, NOW, { ...policy, leasesFromMs: NOW - 10_001 }))).toEqual(["requeue"]);
  });

  it("backs off twice as long after each loss, up to a minute", () => {
    const waits = [0, 1, 5, 9].map((losses) => {
      const view = work({ losses, job: job({ container: exited }) });
      const [action] = decideWork(view, NOW, { ...policy, maxAttempts: 100 });
      return action?.type === "requeue" ? action.retryAtMs - NOW : undefined;
    });
    expect(waits).toEqual([1_000, 2_000, 32_000, 60_000]);
  });

  it.each([
    ["capacity", "requeue"],
    ["container_out_of_memory", "requeue"],
    ["reward_failed", "finish"],
    ["invalid_input", "finish"],
    ["numeric_failure", "finish"],
    ["a_code_of_the_future", "finish"],
  ])("a reported %s leads to %s", (code, expected) => {
    const view = work({ job: job({ exit: { outcome: "failed", failure: { code, message: "" } } }) });
    expect(types(decideWork(view, NOW, policy))).toEqual([expected]);
  });

  it("takes the reason of an end from the platform (38)", () => {
    const oom = work({
      losses: 2,
      job: job({ container: { state: "exited", exitCode: 137, reason: "oom", logTail: [] } }),
    });
    expect(decideWork(oom, NOW, policy)).toMatchObject([{ failure: { code: "container_out_of_memory" } }]);
  });
});

describe("decideEndpoint", () => {
  const table: [string, EndpointView, string[]][] = [
    ["a served endpoint is left alone", endpoint(), []],
    ["without a replica it gets one", endpoint({ state: "creating", replicas: [] }), ["add-replica"]],
    ["backing off it waits", endpoint({ state: "creating", replicas: [], retryAtMs: NOW + 1 }), []],
    [
      "a replica with an address is probed",
      endpoint({ replicas: [replica({}, "loading")] }),
      ["probe-replica"],
    ],
    [
      "a dead one is replaced later",
      endpoint({ replicas: [replica({ container: exited })] }),
      ["replica-lost"],
    ],
    [
      "a silent one too",
      endpoint({ replicas: [replica({ heartbeatAtMs: NOW - 20_000 })] }),
      ["replica-lost"],
    ],
    [
      "too many failures end it (11)",
      endpoint({ startFailures: 2, replicas: [replica({ container: exited }, "starting")] }),
      ["fail-endpoint"],
    ],
    [
      "one that beats and is not ready in time is lost",
      endpoint({ replicas: [replica({ address: undefined, startedAtMs: NOW - 600_001 }, "loading")] }),
      ["replica-lost"],
    ],
    [
      "as is one that has an address and never answers",
      endpoint({ replicas: [replica({ startedAtMs: NOW - 600_001 }, "loading")] }),
      ["replica-lost"],
    ],
    [
      "the third time the endpoint fails",
      endpoint({ startFailures: 2, replicas: [replica({ startedAtMs: NOW - 600_001 }, "loading")] }),
      ["fail-endpoint"],
    ],
    [
      "until then it may load",
      endpoint({ replicas: [replica({ startedAtMs: NOW - 600_000 }, "loading")] }),
      ["probe-replica"],
    ],
    ["one that is ready may be old", endpoint({ replicas: [replica({ startedAtMs: 0 })] }), []],
    [
      "a failed endpoint keeps nothing",
      endpoint({ state: "failed", desired: 0 }),
      ["drain-replica", "stop-replica"],
    ],
    [
      "a stopping one lets go",
      endpoint({ state: "stopping", desired: 0 }),
      ["drain-replica", "stop-replica"],
    ],
    [
      "what has exited is dropped",
      endpoint({ state: "stopping", desired: 0, replicas: [replica({ container: exited }, "draining")] }),
      ["drop-replica"],
    ],
    [
      "the last one gone it is stopped",
      endpoint({ state: "stopping", desired: 0, replicas: [] }),
      ["endpoint-stopped"],
    ],
    [
      "the old revision serves until the new one does (20)",
      endpoint({
        revision: 2,
        replicas: [replica(), replica({ address: undefined, heartbeatAtMs: NOW }, "loading", 2)],
      }),
      [],
    ],
    [
      "and then it goes",
      endpoint({ revision: 2, replicas: [replica(), replica({}, "ready", 2)] }),
      ["drain-replica"],
    ],
  ];
  it.each(table)("%s", (_name, view, expected) => {
    expect(types(decideEndpoint(view, NOW, policy))).toEqual(expected);
  });

  it("replaces one that was told to end from outside without holding it against it", () => {
    const view = endpoint({ replicas: [replica({ exit: { outcome: "cancelled" } })] });
    expect(types(decideEndpoint(view, NOW, policy))).toEqual(["drop-replica"]);
  });

  it("gives up at once on what the user got wrong", () => {
    const failure = { code: "model_not_found", message: "no such folder" };
    const view = endpoint({
      state: "creating",
      replicas: [replica({ exit: { outcome: "failed", failure } }, "loading")],
    });
    expect(decideEndpoint(view, NOW, policy)).toMatchObject([{ type: "fail-endpoint", failure }]);
  });
});

describe("decide", () => {
  it("stops containers without an owner, and no others", () => {
    const world = {
      works: [work()],
      endpoints: [endpoint({ replicas: [replica({ id: "k" })] })],
      containers: [
        { jobId: "j", kind: "train" as const },
        { jobId: "k", kind: "serve" as const },
        { jobId: "stray", kind: "eval" as const },
      ],
    };
    expect(decide(world, NOW, policy)).toEqual([{ type: "stop-container", jobId: "stray", graceMs: 5_000 }]);
  });

  it("knows when it is needed next", () => {
    const works = [work({ retryAtMs: NOW + 500 }), work({ retryAtMs: NOW - 1 })];
    const world = { works, endpoints: [endpoint({ retryAtMs: NOW + 200 })], containers: [] };
    expect(nextDeadline(world, NOW)).toBe(NOW + 200);
    expect(nextDeadline({ ...world, works: [], endpoints: [] }, NOW)).toBeUndefined();
  });
});
