import { parse } from "zod/mini";
import { describe, expect, it } from "vitest";
import type { Sample } from "../../../engine/training/samples.ts";
import { lengthPenalties, overlongPenalty, shapedRewards } from "../../../engine/training/shaping.ts";
import { grpoAlgorithm } from "../../../sdk/schema/grpo-algorithm.ts";

/** Of a prompt of three tokens, then what the model wrote and what it was told. */
function sample(written: number, given = 0, turns = 1): Sample {
  const mask = [...Array<number>(written).fill(1), ...Array<number>(given).fill(0)];
  return {
    prompt: { text: "", ids: [1, 2, 3] },
    ids: mask.map((_, at) => at),
    mask,
    logprobs: mask.map((each) => each * -1),
    earlier: [],
    turns,
  } as unknown as Sample;
}

const algorithm = (change: object) => parse(grpoAlgorithm, { kind: "grpo", ...change });
const lengthPenalty = { outputTokens: 0, inputTokens: 0, turns: 0 };

describe("the soft overlong punishment", () => {
  it.each([
    [79, 0],
    [80, 0],
    [90, 0.5],
    [100, 1],
    [120, 1],
  ])("of %i tokens, of which 100 are the most and 20 too many, is %d", (tokens, expected) => {
    expect(overlongPenalty(tokens, 100, 20)).toBe(expected);
  });
});

describe("the length penalty", () => {
  const group = [sample(10, 0, 1), sample(20, 7, 2), sample(40, 0, 4)];

  it.each([
    ["outputTokens", [0.25, 0.5, 1]],
    ["inputTokens", [0.3, 1, 0.3]],
    ["turns", [0.25, 0.5, 1]],
  ])("goes by %s as a share of the longest, times the mean reward", (name, shares) => {
    const penalties = lengthPenalties({ ...lengthPenalty, [name]: 0.4 }, group, [1, 0, 2]);
    penalties.forEach((penalty, index) => expect(penalty).toBeCloseTo(0.4 * (shares[index] ?? NaN), 12));
  });

  it("adds the three up, and leaves a hopeless group alone", () => {
    expect(
      lengthPenalties({ outputTokens: 0.25, inputTokens: 0.1, turns: 0.1 }, group, [1, 1, 1])[2],
    ).toBeCloseTo(0.25 + 0.1 * 0.3 + 0.1, 12);
    expect(lengthPenalties({ ...lengthPenalty, outputTokens: 1 }, group, [-2, -1, -3])).toEqual([0, 0, 0]);
  });

  it("does not count answers without a verdict into the mean", () => {
    expect(lengthPenalties({ ...lengthPenalty, outputTokens: 1 }, group, [3, undefined, undefined])[2]).toBe(
      3,
    );
  });
});

describe("shaped rewards", () => {
  const shaped = (change: object, extra: object = {}) =>
    shapedRewards({
      algorithm: algorithm(change),
      maxTokens: 40,
      samples: [sample(10), sample(40)],
      rewards: [2, 2],
      ...extra,
    });

  it("are the rewards where nothing is set", () => {
    expect(shaped({})).toEqual([2, 2]);
    expect(shaped({ klCoef: 1 })).toEqual([2, 2]);
  });

  it("fall by length and never rise, and stay unknown", () => {
    expect(shaped({ overlongTokens: 20 })).toEqual([2, 1]);
    expect(shaped({ lengthPenalty: { ...lengthPenalty, outputTokens: 0.5 } })).toEqual([1.75, 1]);
    expect(shaped({ overlongTokens: 20 }, { rewards: [undefined, 2] })).toEqual([undefined, 1]);
  });

  it.each([
    // Two tokens at log-probability -1, and -1.5 and -0.5 under the reference.
    ["k1", 0],
    ["k2", 0.25],
    ["k3", Math.exp(0.5) + Math.exp(-0.5) - 2],
  ])("fall by the divergence of all tokens, estimated by %s", (klEstimator, divergence) => {
    const [reward] = shapedRewards({
      algorithm: algorithm({ klCoef: 0.5, klIn: "reward", klEstimator }),
      maxTokens: 40,
      samples: [sample(2, 1)],
      rewards: [2],
      // The prompt's and the given token's are no matter.
      references: [[[9, 9, 9, -1.5, -0.5, 9]]],
    });
    expect(reward).toBeCloseTo(2 - 0.5 * divergence, 12);
  });

  it("fall where the policy holds its answer for likelier than the reference does, by k1", () => {
    const [reward] = shapedRewards({
      algorithm: algorithm({ klCoef: 1, klIn: "reward", klEstimator: "k1" }),
      maxTokens: 40,
      samples: [sample(1)],
      rewards: [2],
      references: [[[9, 9, 9, -3]]],
    });
    expect(reward).toBe(2 - (-1 - -3));
  });
});
