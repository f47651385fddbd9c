import { parse } from "zod/mini";
import { describe, expect, it } from "vitest";
import { advantagesOf } from "../../../../engine/training/advantages/index.ts";
import { relativeAdvantages } from "../../../../engine/training/advantages/max-rl.ts";
import { leaveOneOut } from "../../../../engine/training/advantages/rloo.ts";
import { grpoAlgorithm, type GrpoAlgorithm } from "../../../../sdk/schema/grpo-algorithm.ts";

const none = undefined;

describe("leave-one-out advantages", () => {
  it.each([
    { what: "the mean of the others is the baseline", rewards: [1, 3, 5], expected: [-3, 0, 3] },
    { what: "of two, the other", rewards: [1, 4], expected: [-3, 3] },
    { what: "no verdict takes no part", rewards: [1, none, 4], expected: [-3, none, 3] },
    { what: "a flat group tells nothing", rewards: [2, 2], expected: [none, none] },
  ])("$what", ({ rewards, expected }) => {
    expect(leaveOneOut(rewards)).toEqual(expected);
  });
});

describe("advantages in units of the mean", () => {
  it.each([
    { what: "a rare success weighs most", rewards: [0, 0, 0, 1], expected: [-1, -1, -1, 3] },
    { what: "a usual one little", rewards: [1, 1, 1, 0], expected: [1 / 3, 1 / 3, 1 / 3, -1] },
    { what: "no verdict takes no part", rewards: [0, none, 2], expected: [-1, none, 1] },
    { what: "a mean below 0 has no such unit", rewards: [-3, -1], expected: [none, none] },
  ])("$what", ({ rewards, expected }) => {
    expect(rounded(relativeAdvantages(rewards))).toEqual(rounded(expected));
  });
});

describe("the advantages of a step", () => {
  const groups = [
    [1, 3],
    [5, 5],
  ];

  it.each<[Partial<GrpoAlgorithm>, (number | undefined)[]]>([
    [{ advantage: "grpo", normalizeStd: false }, [-1, 1, none, none]],
    [{ advantage: "grpo" }, [-1 / 1.0001, 1 / 1.0001, none, none]],
    [{ advantage: "rloo" }, [-2, 2, none, none]],
    [{ advantage: "max_rl" }, [-0.5, 0.5, none, none]],
    // The mean of the step is 3.5, its standard deviation the root of 2.75; a flat group takes part.
    [{ advantage: "reinforce", normalizeStd: false }, [-2.5, -0.5, 1.5, 1.5]],
    [{ advantage: "reinforce" }, [-2.5, -0.5, 1.5, 1.5].map((each) => each / (Math.sqrt(2.75) + 1e-4))],
    [{ advantage: "rloo", advantageScale: 0.5 }, [-1, 1, none, none]],
  ])("are those of %j", (change, expected) => {
    const algorithm = parse(grpoAlgorithm, { kind: "grpo", ...change });
    expect(rounded(advantagesOf(algorithm, groups))).toEqual(rounded(expected));
  });

  it("compare single answers with the step where it is the baseline", () => {
    const algorithm = parse(grpoAlgorithm, { kind: "grpo", advantage: "reinforce", normalizeStd: false });
    expect(advantagesOf(algorithm, [[1], [none], [3]])).toEqual([-1, none, 1]);
  });
});

function rounded(values: readonly (number | undefined)[]): (string | undefined)[] {
  return values.map((value) => value?.toFixed(9));
}
