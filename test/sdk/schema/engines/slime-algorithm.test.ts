import { parse } from "zod/mini";
import { describe, expect, it } from "vitest";
import { slimeAlgorithmFaults } from "../../../../sdk/schema/engines/slime-algorithm.ts";
import { grpoAlgorithm } from "../../../../sdk/schema/grpo-algorithm.ts";

const lostOf = (algorithm: object) =>
  slimeAlgorithmFaults({ algorithm: parse(grpoAlgorithm, { kind: "grpo", ...algorithm }) }).map(
    ({ where }) => where,
  );

describe("an algorithm on slime", () => {
  it("may clip, normalise and measure a divergence", () => {
    expect(lostOf({})).toEqual([]);
    expect(lostOf({ clipHigh: 0.28, klCoef: 0.01, normalizeStd: false, normalizer: "sequence" })).toEqual([]);
  });

  it.each([
    { advantage: "rloo" },
    { loss: "dppo" },
    { ratio: "sequence" },
    { normalizer: "constant" },
    { klIn: "reward" },
    { entropyCoef: 0.01 },
    { importanceCap: 2 },
    { lengthPenalty: {} },
    { maxExtraPrompts: 4 },
    { maxOffPolicySteps: 1 },
  ])("is not silently another one without %j", (change) => {
    expect(lostOf(change)).toEqual(Object.keys(change).map((name) => `algorithm.${name}`));
  });
});
