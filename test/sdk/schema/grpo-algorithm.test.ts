import { parse } from "zod/mini";
import { describe, expect, it } from "vitest";
import { grpoAlgorithm } from "../../../sdk/schema/grpo-algorithm.ts";
import { grpoFaults } from "../../../sdk/schema/grpo-faults.ts";

const rollout = { promptsPerStep: 16, samplesPerPrompt: 8, maxTurns: 1, maxTokens: 256 };
const faultsOf = (algorithm: object, change: object = {}) =>
  grpoFaults(parse(grpoAlgorithm, { kind: "grpo", ...algorithm }), { ...rollout, ...change }).map(
    ({ path, message }) => `${path.join(".")} ${message}`,
  );

describe("a grpo algorithm", () => {
  it("is plain GRPO unless it says otherwise, so that stored runs mean what they meant", () => {
    expect(parse(grpoAlgorithm, { kind: "grpo" })).toEqual({
      kind: "grpo",
      advantage: "grpo",
      normalizeStd: true,
      advantageScale: 1,
      loss: "ppo",
      clipLow: 0.2,
      clipHigh: 0.2,
      maskLow: 0.2,
      maskHigh: 0.2,
      driftCoef: 0,
      ratio: "token",
      normalizer: "token",
      klCoef: 0,
      klEstimator: "k3",
      klIn: "loss",
      entropyCoef: 0,
      dropTruncated: false,
      maxExtraPrompts: 0,
      maxOffPolicySteps: 0,
    });
    expect(faultsOf({})).toEqual([]);
  });

  it("has shares for a length penalty that says no more than that it is there", () => {
    const { lengthPenalty } = parse(grpoAlgorithm, { kind: "grpo", lengthPenalty: {} });
    expect(lengthPenalty).toEqual({ outputTokens: 0.25, inputTokens: 0.1, turns: 0.1 });
  });

  it.each<[object, object, string]>([
    [{ advantage: "rloo" }, { samplesPerPrompt: 1 }, "rollout.samplesPerPrompt must be at least 2 for rloo"],
    [
      { advantage: "reinforce" },
      { samplesPerPrompt: 1, promptsPerStep: 1 },
      "rollout.promptsPerStep must be at least 2",
    ],
    [{ loss: "dppo", ratio: "sequence" }, {}, "algorithm.ratio of the sequence goes with ppo"],
    [{ overlongTokens: 20 }, { maxTurns: 3 }, "algorithm.overlongTokens is about how long the one answer is"],
    [{ overlongTokens: 257 }, {}, "algorithm.overlongTokens must be at most maxTokens, which is 256"],
    [
      { advantage: "reinforce", maxExtraPrompts: 1 },
      { samplesPerPrompt: 1 },
      "algorithm.maxExtraPrompts stands in for groups",
    ],
    [{ maxExtraPrompts: 4000 }, { samplesPerPrompt: 17 }, "algorithm.maxExtraPrompts and promptsPerStep"],
  ])("is told what does not go together: %j with %j", (algorithm, change, message) => {
    const faults = faultsOf(algorithm, change);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(message);
  });

  it.each([
    [{ advantage: "reinforce" }, { samplesPerPrompt: 1 }],
    [{ loss: "importance_sampling", ratio: "sequence" }, {}],
    [{ overlongTokens: 256 }, {}],
    [{ maxExtraPrompts: 4000 }, {}],
  ])("goes together: %j with %j", (algorithm, change) => {
    expect(faultsOf(algorithm, change)).toEqual([]);
  });
});
