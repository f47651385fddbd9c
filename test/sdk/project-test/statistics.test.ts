import { expect, it } from "vitest";
import { type Outcome, passAtK, summaryOf } from "../../../sdk/config/project-folder/play/statistics.ts";

const outcome = (entry: number, total?: number): Outcome => ({
  entry,
  total,
  isFailed: false,
  isJudged: true,
});

/** Counts it out: the share of all ways to draw k of n answers in which one is right. */
function counted(n: number, correct: number, k: number): number {
  let draws = 0;
  let hits = 0;
  for (let mask = 0; mask < 2 ** n; mask++) {
    const drawn = Array.from({ length: n }, (_, index) => (mask >> index) & 1);
    if (drawn.filter(Boolean).length !== k) continue;
    draws++;
    if (drawn.slice(0, correct).includes(1)) hits++;
  }
  return hits / draws;
}

it("estimates pass@k without bias: as counting all draws of k answers does", () => {
  for (const n of [1, 4, 8])
    for (let correct = 0; correct <= n; correct++)
      for (let k = 1; k <= n; k++) expect(passAtK(n, correct, k)).toBeCloseTo(counted(n, correct, k), 12);
  expect(passAtK(100_000, 1, 50_000)).toBeCloseTo(0.5, 9);
});

it("gives mean, deviation and pass@k over rows, with the threshold it is told", () => {
  const outcomes = [outcome(0, 1), outcome(0, 0), outcome(1, 0.5), outcome(1, 0.5)];
  const summary = summaryOf(outcomes, 1);
  expect(summary).toMatchObject({ rollouts: 4, failed: 0, invalid: 0, mean: 0.5, groups: 2 });
  expect(summary.standardDeviation).toBeCloseTo(Math.sqrt(0.5 / 3), 12);
  expect(summary.passAt).toEqual({ 1: 0.25, 2: 0.5 });
  expect(summary.zeroVarianceGroups).toBe(1);
  expect(summaryOf(outcomes, 0.5).passAt).toEqual({ 1: 0.75, 2: 1 });
});

it("counts no verdict in no mean, and leaves rows with too few verdicts out of a k", () => {
  const summary = summaryOf([outcome(0, 1), outcome(0), outcome(1, 1), outcome(1, 0)], 1);
  expect(summary).toMatchObject({ invalid: 1, groups: 1, zeroVarianceGroups: 0 });
  expect(summary.mean).toBeCloseTo(2 / 3, 12);
  expect(summary.passAt).toEqual({ 1: 0.75, 2: 1 });
});

it("gives null where there is nothing to average", () => {
  expect(summaryOf([{ entry: 0, isFailed: true, isJudged: true }], 1)).toEqual({
    rollouts: 1,
    failed: 1,
    invalid: 0,
    mean: null,
    standardDeviation: null,
    passAt: {},
    threshold: 1,
    groups: 0,
    zeroVarianceGroups: 0,
  });
});
