import { describe, expect, it } from "vitest";
import type { RunEvent, RunEventBody } from "../../../../sdk/schema/event.ts";
import type { Run } from "../../../../sdk/schema/run.ts";
import { applyEvents, createRunModel, remainingMs } from "../../../../functions/pages/views/run-model.ts";

const at = (seq: number, atMs: number, body: RunEventBody): RunEvent => ({ seq, atMs, body });
const metrics = (step: number, values: Record<string, number>): RunEventBody => ({
  ...{ type: "metrics", step, metrics: values },
});
const run = (step: number, state: Run["state"] = "running"): Run => ({
  ...{ v: 1, id: "run-1", tags: [], kind: "rl", model: "spotter/nano", state, step, steps: 10, attempt: 1 },
  ...{ cancelRequested: false, metrics: {}, createdAtMs: 0 },
});

describe("the model of a run", () => {
  it("collects metrics by step, and lets a later attempt overwrite", () => {
    const model = createRunModel();
    applyEvents(model, [
      at(1, 0, metrics(1, { loss: 3 })),
      at(2, 1, metrics(2, { loss: 2 })),
      at(3, 2, metrics(3, { loss: 1 })),
      at(4, 3, { type: "attempt", attempt: 2, reason: "The container was lost." }),
      at(5, 4, metrics(2, { loss: 2.5, kl: 0 })),
    ]);
    expect(model.series.get("loss")).toEqual({ steps: [1, 2, 3], values: [3, 2.5, 1] });
    expect(model.series.get("kl")).toEqual({ steps: [2], values: [0] });
    expect(model.logs).toEqual([
      { seq: 4, atMs: 3, level: "warn", message: "Attempt 2: The container was lost." },
    ]);
  });

  it("takes metric names as they come, whatever objects make of them", () => {
    const model = createRunModel();
    applyEvents(model, [at(1, 0, metrics(1, JSON.parse('{"__proto__":1,"constructor":2}') as never))]);
    expect([...model.series.keys()].sort()).toEqual(["__proto__", "constructor"]);
  });

  it("counts checkpoints, sorts the steps of rollouts and keeps the newest log lines", () => {
    const model = createRunModel();
    const rollouts = (step: number): RunEventBody => ({ type: "rollouts", step, count: 1, sha256: "" });
    applyEvents(model, [at(1, 0, rollouts(2)), at(2, 0, rollouts(1)), at(3, 0, rollouts(2))]);
    applyEvents(model, [at(4, 0, { type: "checkpoint", step: 2, id: "run-1@2" })]);
    for (let seq = 5; seq < 1_005; seq++)
      applyEvents(model, [at(seq, 0, { type: "log", level: "info", message: String(seq) })]);
    expect(model.rolloutSteps).toEqual([1, 2]);
    expect(model.checkpoints).toBe(1);
    expect(model.logs.length).toBe(500);
    expect(model.logs.at(-1)?.message).toBe("1004");
  });
});

describe("the time that is left", () => {
  it("is not counted anew from numbers that come late", () => {
    const model = createRunModel();
    applyEvents(model, [
      at(1, 0, metrics(1, { loss: 1 })),
      at(2, 1_000, metrics(2, { loss: 1 })),
      at(3, 1_500, { type: "metrics", step: 1, metrics: { own: 7 }, late: true }),
    ]);
    expect(remainingMs(model, run(2), 1_000)).toBe(8_000);
    expect(model.series.get("own")).toEqual({ steps: [1], values: [7] });
  });

  const paced = () => {
    const model = createRunModel();
    // One step stalls; the median does not care.
    [0, 1_000, 2_000, 60_000, 61_000].forEach((atMs, index) =>
      applyEvents(model, [at(index, atMs, metrics(index + 1, { loss: 1 }))]),
    );
    return model;
  };

  it("goes by the median step, and a step that is overdue does not eat the others", () => {
    expect(remainingMs(paced(), run(5), 61_000)).toBe(5_000);
    expect(remainingMs(paced(), run(5), 61_400)).toBe(4_600);
    expect(remainingMs(paced(), run(5), 99_000)).toBe(4_000);
  });

  it("is unknown before there is a pace, when nothing runs, and after a new start", () => {
    expect(remainingMs(createRunModel(), run(0), 0)).toBeUndefined();
    expect(remainingMs(paced(), run(5, "paused"), 61_000)).toBeUndefined();
    const again = paced();
    applyEvents(again, [at(9, 70_000, metrics(3, { loss: 1 }))]);
    expect(remainingMs(again, run(3), 70_000)).toBeUndefined();
  });
});
