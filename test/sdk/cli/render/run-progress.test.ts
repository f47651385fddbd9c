import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../../../sdk/schema/event.ts";
import { advance, etaMs, figures, newProgress } from "../../../../sdk/cli/render/run-progress.ts";

function after(...bodies: [number, RunEvent["body"]][]) {
  return bodies.reduce(
    (progress, [atMs, body], index) => advance(progress, { seq: index + 1, atMs, body }),
    newProgress(100),
  );
}

const metrics = (step: number, values = {}) => ({ type: "metrics" as const, step, metrics: values });

describe("advance", () => {
  it("keeps state, phase, step, figures and checkpoints", () => {
    const progress = after(
      [0, { type: "state", state: "provisioning", waitingFor: "capacity" }],
      [1, { type: "state", state: "running" }],
      [2, { type: "phase", phase: "train" }],
      [3, metrics(1, { loss: 2 })],
      [4, { type: "log", level: "info", message: "x" }],
      [5, { type: "checkpoint", step: 1, id: "run1@1" }],
    );
    expect(progress).toMatchObject({
      state: "running",
      waitingFor: undefined,
      phase: "train",
      step: 1,
      checkpoints: ["run1@1"],
    });
    expect(figures(progress)).toEqual(["loss 2.000"]);
  });

  it("does not go back for numbers that come late", () => {
    const late = { ...metrics(1, { loss: 9, own: 7 }), late: true };
    const progress = after([0, metrics(1, { loss: 3 })], [1_000, metrics(2, { loss: 2 })], [2_000, late]);
    expect(progress).toMatchObject({ step: 2, metrics: { loss: 2, own: 7 } });
    expect(etaMs(progress)).toBe(98_000);
  });

  it("tells the time left from the pace of this attempt", () => {
    expect(etaMs(after([0, metrics(0)]))).toBeUndefined();
    expect(etaMs(after([1_000, metrics(1)], [11_000, metrics(11)]))).toBe(89_000);
    const again = after(
      [0, metrics(1)],
      [1_000, metrics(50)],
      [60_000, { type: "attempt", attempt: 2 }],
      [61_000, metrics(41)],
      [62_000, metrics(42)],
    );
    expect(etaMs(again)).toBe(58_000);
    expect(again.step).toBe(50);
  });
});
