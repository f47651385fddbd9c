import { describe, expect, it } from "vitest";
import { comparison } from "../../../functions/evals/compare.ts";
import type { EvalRecord } from "../../../sdk/schema/eval.ts";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import { evalRecordOf } from "../../sdk/records.ts";

/** An eval of rows whose answers have these totals; null has no verdict. */
function side(id: string, totals: (number | null)[][], spec: Partial<EvalRecord["spec"]> = {}) {
  const base = evalRecordOf({ id, state: "succeeded" });
  const rows = totals.flatMap((answers, row) =>
    answers.map((total, sample): EvalRow => {
      const exact = total !== null && { exact: { score: total, weight: 1, precondition: false } };
      const verdict = { ...(total !== null && { total }), scores: { ...exact }, errors: {} };
      return { row, sample, input: {}, text: "", finishReason: "stop", tokens: 1, verdict };
    }),
  );
  return { record: { ...base, spec: { ...base.spec, samplesPerRow: 2, ...spec } }, rows };
}

/** How hard a row is, which says more about its total than who answers. */
const hard = Array.from({ length: 30 }, (_, row) => (row * 0.618) % 1);

describe("two evals on the same rows", () => {
  it("differ by what lies between them row by row, surer than each is of itself", () => {
    const result = comparison(
      side(
        "a",
        hard.map((value) => [value, value]),
      ),
      side(
        "b",
        hard.map((value) => [value + 0.1, value + 0.1]),
      ),
    );
    expect(result).toMatchObject({ first: "a", second: "b", rows: 30, better: 30, worse: 0, same: 0 });
    expect(result.score.difference.mean).toBeCloseTo(0.1, 9);
    expect(result.score.difference.low).toBeCloseTo(0.1, 9);
    expect(result.scores["exact"]?.difference).toEqual(result.score.difference);
    expect(result.score.second - result.score.first).toBeCloseTo(0.1, 9);
  });

  it("are compared on the rows that both judged, and on no other", () => {
    const result = comparison(
      side("a", [
        [1, 1],
        [0, 0],
        [null, null],
      ]),
      side("b", [
        [1, 0],
        [null, 1],
        [1, 1],
      ]),
    );
    expect(result).toMatchObject({
      rows: 2,
      better: 1,
      worse: 1,
      same: 0,
      score: { first: 0.5, second: 0.75 },
    });
  });

  it("have pass@k where both have enough answers to a row", () => {
    const passAt = [{ k: 1 }, { k: 2 }];
    const result = comparison(
      side(
        "a",
        [
          [0, 0],
          [0, 1],
          [1, null],
        ],
        { passAt },
      ),
      side(
        "b",
        [
          [0, 1],
          [1, 1],
          [1, 1],
        ],
        { passAt },
      ),
    );
    expect(result.passes).toMatchObject({
      1: { first: 0.5, second: (0.5 + 1 + 1) / 3, difference: { n: 3 } },
      2: { first: 0.5, second: 1, difference: { mean: 0.5, n: 2 } },
    });
  });

  it("tell what makes them less alike", () => {
    const other = {
      rewards: { ...evalRecordOf().spec.rewards, code: { sha256: "1".repeat(64), secrets: [] } },
    };
    const second = side("b", [[1]], {
      passThreshold: 0.5,
      chatOptions: { temperature: 0 },
      ...(other as object),
    });
    expect(
      comparison(side("a", [[1]]), { ...second, record: { ...second.record, state: "running" } }).notes,
    ).toEqual([
      "b is running, with 0 of 2 answers.",
      "They were judged by different rewards.",
      "An answer is right from 1 on in the first, from 0.5 on in the second.",
      "They were asked with different chat options.",
    ]);
  });

  it("say of a pass@k that both measure at which temperature each does", () => {
    const first = side("a", [[1, 1]], { passAt: [{ k: 1, temperature: 0 }, { k: 2 }] });
    const second = side("b", [[1, 1]], { passAt: [{ k: 1 }, { k: 2 }, { k: 4, temperature: 1 }] });
    expect(comparison(first, second).notes).toEqual([
      "pass@1 is at temperature 0 in the first, its own in the second.",
    ]);
    expect(comparison(first, first).notes).toEqual([]);
  });

  it("are refused where the rows are others, or none was judged by both", () => {
    const dataset = { sha256: "1".repeat(64), rows: 1 };
    expect(() => comparison(side("a", [[1]]), side("b", [[1]], { dataset }))).toThrow(
      "a and b were played on different rows.",
    );
    expect(() => comparison(side("a", [[1]]), side("b", [[null]]))).toThrow(
      "There is no row that both a and b judged.",
    );
  });
});
