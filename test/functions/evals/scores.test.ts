import { describe, expect, it } from "vitest";
import { summarize } from "../../../functions/evals/scores.ts";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import type { Verdict } from "../../../sdk/schema/rollout.ts";

const SPEC = { passAt: [], samplesPerRow: 1, passThreshold: 1, seed: 0 };

function evalRow(row: number, verdict: Verdict, sample = 0): EvalRow {
  return { row, sample, input: {}, text: "", finishReason: "stop", tokens: 1, verdict };
}

function judged(total: number, scores: Record<string, number>): Verdict {
  return {
    total,
    scores: Object.fromEntries(
      Object.entries(scores).map(([name, score]) => [name, { score, weight: 1, precondition: false }]),
    ),
    errors: {},
  };
}

describe("summary of an eval", () => {
  it("leaves rows without a verdict out of the total, and counts them", () => {
    const failed: Verdict = {
      scores: { form: { score: 9, weight: 1, precondition: false } },
      errors: { topic: { code: "reward_timeout", message: "slow" } },
    };
    const rows = [
      evalRow(0, judged(1, { form: 1, topic: 0 })),
      evalRow(1, judged(3, { form: 2, topic: 1 })),
      evalRow(2, failed),
    ];
    const summary = summarize(rows, SPEC);
    expect(summary.missing).toBe(1);
    expect(summary.score).toMatchObject({ mean: 2, n: 2 });
    expect(summary.scores).toMatchObject({ form: { mean: 4, n: 3 }, topic: { mean: 0.5, n: 2 } });
  });

  it("has no score where there is no verdict", () => {
    expect(summarize([], SPEC)).toEqual({ missing: 0, failed: 0, scores: {}, passes: {} });
  });

  it("estimates pass@k over rows, at the temperature of each k", () => {
    const passAt = [
      { k: 1, temperature: 0 },
      { k: 2, temperature: 1 },
    ];
    const spec = { ...SPEC, passAt, samplesPerRow: 4, passThreshold: 0.5 };
    const answers = (row: number, totals: number[]) =>
      totals.map((total, sample) => evalRow(row, judged(total, {}), sample));
    // Greedy first, then four at temperature 1; a row has pass@2 of 0, of 1/2 and of 1.
    const rows = [
      ...answers(0, [1, 0, 0, 0, 0]),
      ...answers(1, [0, 1, 0, 0, 0]),
      ...answers(2, [0, 0.5, 1, 1, 0]),
    ];
    const summary = summarize(rows, spec);
    expect(summary.passes).toMatchObject({ 1: { mean: 1 / 3, n: 3 }, 2: { mean: 0.5, n: 3 } });
    expect(summary.score).toMatchObject({ mean: 1 / 3, n: 3 });
  });

  it("tells no verdict from a score of 0, in pass@k as well", () => {
    const nothing: Verdict = { scores: {}, errors: { form: { code: "reward_failed", message: "threw" } } };
    const spec = { ...SPEC, passAt: [{ k: 1 }, { k: 2 }], samplesPerRow: 2 };
    const rows = [
      evalRow(0, judged(1, {})),
      evalRow(0, nothing, 1),
      evalRow(1, judged(0, {})),
      evalRow(1, judged(0, {}), 1),
      { ...evalRow(2, { scores: {}, errors: {} }), failure: { code: "engine_failed", message: "gone" } },
    ];
    const summary = summarize(rows, spec);
    expect(summary).toMatchObject({ missing: 2, failed: 1 });
    // One verdict of two is enough for pass@1 and not for pass@2.
    expect(summary.passes).toMatchObject({ 1: { mean: 0.5, n: 2 }, 2: { mean: 0, n: 1 } });
  });
});
