import { describe, expect, it } from "vitest";
import { hashOf } from "../../../functions/gateway/affinity.ts";
import { pickReplica, type PickParams } from "../../../functions/gateway/pick-replica.ts";
import type { ReadyReplica } from "../../../functions/gateway/ready-replicas.ts";

const replica = (jobId: string): ReadyReplica => ({ jobId, address: "127.0.0.1:1", hash: hashOf(jobId) });
const READY = ["r1", "r2", "r3", "r4"].map(replica);

function pick(conversation: string, load: Record<string, number> = {}, more: Partial<PickParams> = {}) {
  return pickReplica(READY, {
    limit: 8,
    loadOf: (jobId) => load[jobId] ?? 0,
    isSuspect: () => false,
    affinity: () => hashOf(conversation),
    ...more,
  })?.jobId;
}

describe("the replica for a request", () => {
  it("is the same for the same conversation, and another one for many others", () => {
    const names = Array.from({ length: 400 }, (_, at) => `conversation ${at}`);
    const picks = names.map((name) => pick(name));
    expect(names.map((name) => pick(name))).toEqual(picks);
    for (const { jobId } of READY) {
      const share = picks.filter((each) => each === jobId).length;
      expect(share).toBeGreaterThan(60);
      expect(share).toBeLessThan(140);
    }
  });

  it("stays the same for most conversations when a replica comes or goes", () => {
    const names = Array.from({ length: 400 }, (_, at) => `conversation ${at}`);
    const fewer = (name: string) => pick(name, {}, { except: new Set(["r4"]) });
    const moved = names.filter((name) => pick(name) !== "r4" && fewer(name) !== pick(name));
    expect(moved).toEqual([]);
  });

  it("is another one when the one that knows the conversation is clearly more loaded", () => {
    const home = pick("a") ?? "";
    expect(pick("a", { [home]: 2 })).toBe(home);
    expect(pick("a", { [home]: 3 })).not.toBe(home);
    const busy = Object.fromEntries(READY.map(({ jobId }) => [jobId, 5]));
    expect(pick("a", { ...busy, [home]: 7 })).toBe(home);
  });

  it("is the least loaded one, and none when all have what they may have", () => {
    expect(pick("a", { r1: 8, r2: 8, r3: 7, r4: 8 })).toBe("r3");
    expect(pick("a", { r1: 8, r2: 8, r3: 8, r4: 8 })).toBeUndefined();
    expect(
      pickReplica([], { limit: 8, loadOf: () => 0, isSuspect: () => false, affinity: () => 0 }),
    ).toBeUndefined();
  });

  it("is one that failed a moment ago only where there is no other", () => {
    const isSuspect = (jobId: string) => jobId !== "r2";
    for (let at = 0; at < 20; at++) expect(pick(`c${at}`, { r2: 7 }, { isSuspect })).toBe("r2");
    expect(pick("a", { r2: 8 }, { isSuspect })).not.toBe("r2");
  });
});
