import { describe, expect, it } from "vitest";
import { decideSweep, type Known, type Observed, type SweepPolicy } from "../../../functions/aws/sweep.ts";
import type { Living } from "../../../functions/aws/aws-containers.ts";

const policy: SweepPolicy = { orphanGraceMs: 100, idleInstanceMs: 1_000, maxLifetimeMs: 100_000 };
const NOW = 50_000;

function living(id: string, more: Partial<Living> = {}): Living {
  return { id, jobId: `train-${id}`, kind: "train", platform: "batch", createdAtMs: NOW - 10, ...more };
}
const owned = (...all: Living[]): Known => new Map(all.map(({ jobId }) => [jobId, "owned"]));
const world = (more: Partial<Observed>): Observed => ({
  living: [],
  instances: [],
  brokenInstances: [],
  ...more,
});
const ends = (decision: ReturnType<typeof decideSweep>) =>
  decision.actions.map((action) =>
    action.type === "end" ? [action.id, action.why] : [action.arn, action.why],
  );

describe("the sweep", () => {
  it("leaves alone what is owned and young", () => {
    const one = living("1");
    expect(decideSweep(world({ living: [one] }), owned(one), {}, NOW, policy)).toEqual({
      actions: [],
      suspects: {},
    });
  });

  it("keeps the oldest that runs of several doubles", () => {
    const waits = living("1", { jobId: "train-x", createdAtMs: 1_000 });
    const runs = living("2", { jobId: "train-x", createdAtMs: 2_000, startedAtMs: 2_500 });
    const younger = living("3", { jobId: "train-x", createdAtMs: 3_000, startedAtMs: 3_500 });
    const all = [younger, waits, runs];
    expect(ends(decideSweep(world({ living: all }), owned(...all), {}, NOW, policy))).toEqual([
      ["3", "double"],
      ["1", "double"],
    ]);
  });

  it.each(["missing", "fenced"] as const)("ends a container whose job is %s, after a while", (owner) => {
    const one = living("1");
    const known: Known = new Map([[one.jobId, owner]]);
    const first = decideSweep(world({ living: [one] }), known, {}, NOW, policy);
    expect(first).toEqual({ actions: [], suspects: { "1": NOW } });
    expect(ends(decideSweep(world({ living: [one] }), known, first.suspects, NOW + 99, policy))).toEqual([]);
    expect(ends(decideSweep(world({ living: [one] }), known, first.suspects, NOW + 100, policy))).toEqual([
      ["1", "orphan"],
    ]);
  });

  it("forgives what has an owner again", () => {
    const one = living("1");
    const { suspects } = decideSweep(world({ living: [one] }), owned(one), { "1": 0 }, NOW, policy);
    expect(suspects).toEqual({});
  });

  it("ends nothing for want of data", () => {
    const one = living("1");
    expect(ends(decideSweep(world({ living: [one] }), undefined, { "1": 0 }, NOW, policy))).toEqual([]);
  });

  it("ends what has lived too long, whatever the records say", () => {
    const limited = living("1", { startedAtMs: NOW - 50, maxLifetimeMs: 50 });
    const old = living("2", { startedAtMs: NOW - 100_000 });
    const young = living("3", { startedAtMs: NOW - 50, maxLifetimeMs: 51 });
    expect(ends(decideSweep(world({ living: [limited, old, young] }), undefined, {}, NOW, policy))).toEqual([
      ["1", "lifetime"],
      ["2", "lifetime"],
    ]);
  });

  it("lets wait what waits, for as long as somebody owns it", () => {
    const waits = living("1", { createdAtMs: NOW - 1_000_000, maxLifetimeMs: 50 });
    expect(ends(decideSweep(world({ living: [waits] }), owned(waits), {}, NOW, policy))).toEqual([]);
  });

  it("ends instances without tasks, after a while, and broken ones at once", () => {
    const instances = [
      { arn: "idle", registeredAtMs: 0, tasks: 0 },
      { arn: "busy", registeredAtMs: 0, tasks: 1 },
      { arn: "broken", registeredAtMs: 0, tasks: 1 },
    ];
    const observed = world({ instances, brokenInstances: ["broken", "broken-of-batch"] });
    const first = decideSweep(observed, new Map(), {}, NOW, policy);
    expect(ends(first)).toEqual([
      ["broken", "broken"],
      ["broken-of-batch", "broken"],
    ]);
    expect(ends(decideSweep(world({ instances }), new Map(), first.suspects, NOW + 1_000, policy))).toEqual([
      ["idle", "idle"],
    ]);
  });
});
