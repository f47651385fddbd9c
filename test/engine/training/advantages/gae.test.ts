import { describe, expect, it } from "vitest";
import {
  explainedVariance,
  generalizedAdvantages,
  whitened,
} from "../../../../engine/training/advantages/gae.ts";
import { meanOf, standardDeviation } from "../../../../engine/training/statistics.ts";
import { readFixture, relativeError } from "../../onnx/support/fixtures.ts";

/** Written by test/reference/critic.py. */
interface Reference {
  advantages: {
    gamma: number;
    lambda: number;
    reward: number;
    values: number[];
    advantages: number[];
    returns: number[];
  }[];
}

describe("generalised advantages", () => {
  it.each((readFixture("critic.json") as Reference).advantages)(
    "are the paper's sums with gamma $gamma and lambda $lambda",
    ({ reward, values, advantages, returns, ...settings }) => {
      const estimated = generalizedAdvantages(reward, values, settings);
      expect(relativeError(estimated.advantages, advantages)).toBeLessThan(1e-12);
      expect(relativeError(estimated.returns, returns)).toBeLessThan(1e-12);
    },
  );

  it("are whitened over all tokens of a step, whatever answer they are of", () => {
    const white = whitened([[1, 2], [7]]);
    expect(white.map((each) => each.length)).toEqual([2, 1]);
    expect(meanOf(white.flat())).toBeCloseTo(0, 10);
    expect(standardDeviation(white.flat())).toBeCloseTo(1, 6);
  });

  it("tell how much of the returns was foretold", () => {
    expect(explainedVariance([1, 2, 3], [1, 2, 3])).toBe(1);
    expect(explainedVariance([1, 2, 3], [2, 2, 2])).toBe(0);
    expect(explainedVariance([1, 2, 3], [3, 2, 1])).toBeLessThan(0);
    expect(explainedVariance([2, 2], [1, 1])).toBe(0);
  });
});
