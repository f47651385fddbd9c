import { describe, expect, it } from "vitest";
import type { Run } from "../../../../sdk/schema/run.ts";
import { actionsFor, phaseText } from "../../../../functions/pages/views/run-view.ts";

const run = (changes: Partial<Run>): Run => ({
  ...{ v: 1, id: "run-1", tags: [], kind: "rl", model: "spotter/nano", state: "running", step: 1, steps: 4 },
  ...{ attempt: 1, cancelRequested: false, metrics: {}, createdAtMs: 0 },
  ...changes,
});

describe("what can be asked of a run", () => {
  it("depends on its state, and on what was asked before", () => {
    expect(actionsFor(run({}))).toEqual(["pause", "cancel"]);
    expect(actionsFor(run({ state: "paused" }))).toEqual(["resume", "cancel"]);
    expect(actionsFor(run({ pauseRequested: true }))).toEqual(["cancel"]);
    expect(actionsFor(run({ cancelRequested: true }))).toEqual([]);
    for (const state of ["succeeded", "failed", "cancelled"] as const)
      expect(actionsFor(run({ state }))).toEqual([]);
  });
});

describe("what a run does right now", () => {
  it("is said in words", () => {
    expect(phaseText(run({ phase: "sync-weights" }))).toBe("sync weights");
    expect(phaseText(run({ kind: "distill", phase: "wait-for-teacher" }))).toBe("wait for teacher");
    expect(phaseText(run({ state: "provisioning", waitingFor: "capacity" }))).toBe("waiting for capacity");
    expect(phaseText(run({ phase: "train", pauseRequested: true }))).toBe("saving, then it pauses");
    expect(phaseText(run({ phase: "train", cancelRequested: true }))).toBe("saving, then it ends");
    expect(phaseText(run({ state: "succeeded", phase: "save-checkpoint" }))).toBe("");
  });
});
