import { describe, expect, it } from "vitest";
import { meanWithInterval } from "../../../functions/evals/scores.ts";

const values = (...pairs: [cluster: number, value: number][]) =>
  pairs.map(([cluster, value]) => ({ cluster, value }));

describe("meanWithInterval", () => {
  it("is the classic t interval when every row was asked once", () => {
    // Five values, sd = sqrt(2.5), t(4, 0.975) = 2.776.
    const interval = meanWithInterval(values([0, 1], [1, 2], [2, 3], [3, 4], [4, 5]));
    expect(interval?.mean).toBe(3);
    expect(interval?.high).toBeCloseTo(3 + (2.776 * Math.sqrt(2.5)) / Math.sqrt(5), 1);
  });

  it("is not made narrower by asking the same rows again with the same answers", () => {
    const once = meanWithInterval(values([0, 1], [1, 2], [2, 6], [3, 7]));
    const twice = meanWithInterval(values([0, 1], [0, 1], [1, 2], [1, 2], [2, 6], [2, 6], [3, 7], [3, 7]));
    expect(twice?.low).toBeCloseTo(once?.low ?? NaN, 10);
    expect(twice?.n).toBe(8);
  });

  it.each([
    [3, 3.182],
    [5, 2.571],
    [10, 2.228],
    [30, 2.042],
    [200, 1.972],
  ])("uses Student's quantile for %i degrees of freedom", (freedom, quantile) => {
    const n = freedom + 1;
    const data = Array.from({ length: n }, (_, index) => ({ cluster: index, value: index % 2 }));
    const interval = meanWithInterval(data);
    const mean = data.reduce((sum, { value }) => sum + value, 0) / n;
    const variance = data.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / (n - 1);
    const half = quantile * Math.sqrt(variance / n);
    expect(Math.abs((interval?.high ?? 0) - mean - half) / half).toBeLessThan(0.01);
  });

  it("has no width for one row, and does not exist for none", () => {
    expect(meanWithInterval(values([0, 2], [0, 4]))).toEqual({ mean: 3, low: 3, high: 3, n: 2 });
    expect(meanWithInterval([])).toBeUndefined();
  });
});
