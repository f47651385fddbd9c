import { describe, expect, it } from "vitest";
import { summarize } from "../../../functions/evals/scores.ts";
import type { EvalRow } from "../../../sdk/schema/eval.ts";
import type { Verdict } from "../../../sdk/schema/rollout.ts";

function evalRow(row: number, verdict: Verdict): EvalRow {
  return { row, sample: 0, input: {}, text: "", finishReason: "stop", tokens: 1, verdict };
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
    const summary = summarize([
      evalRow(0, judged(1, { form: 1, topic: 0 })),
      evalRow(1, judged(3, { form: 2, topic: 1 })),
      evalRow(2, failed),
    ]);
    expect(summary.missing).toBe(1);
    expect(summary.score).toMatchObject({ mean: 2, n: 2 });
    expect(summary.scores).toMatchObject({ form: { mean: 4, n: 3 }, topic: { mean: 0.5, n: 2 } });
  });

  it("has no score where there is no verdict", () => {
    expect(summarize([])).toEqual({ missing: 0, scores: {} });
  });
});
