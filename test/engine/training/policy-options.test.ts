import { parse } from "zod/mini";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectiveSetup, policyObjective } from "../../../engine/training/policy-objective.ts";
import { grpoAlgorithm } from "../../../sdk/schema/grpo-algorithm.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { score } from "../fake-control-plane.ts";
import { promptRow } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

const rows = Array.from({ length: 12 }, (_, index) => promptRow(`prompt ${index}`));

describe("the objective of a step", () => {
  const objective = (change: object) =>
    policyObjective(parse(grpoAlgorithm, { kind: "grpo", ...change }), { samples: 10, maxTokens: 40 });

  it.each([
    [{}, { loss: "ppo", clipLow: 0.2, clipHigh: 0.2, normalizer: "token", ratio: "token", klCoef: 0 }],
    [{ normalizer: "constant" }, { normalizer: 400 }],
    [
      { klCoef: 0.1, klEstimator: "k2" },
      { klCoef: 0.1, klEstimator: "k2" },
    ],
    [{ klCoef: 0.1, klIn: "reward" }, { klCoef: 0 }],
    [
      { loss: "dppo", maskLow: 0.1, maskHigh: 0.3, driftCoef: 0.001 },
      { loss: "dppo", maskLow: 0.1, maskHigh: 0.3, driftCoef: 0.001 },
    ],
    [
      { entropyCoef: 0.01, importanceCap: 2 },
      { entropyCoef: 0.01, importanceCap: 2 },
    ],
  ])("of %j has %j", (change, expected) => {
    expect(objective(change)).toMatchObject(expected);
  });

  it("needs a reference wherever the divergence is measured", () => {
    const setup = (change: object) => objectiveSetup(parse(grpoAlgorithm, { kind: "grpo", ...change }));
    expect(setup({}).reference).toBe(false);
    expect(setup({ klCoef: 0.1, klIn: "reward" }).reference).toBe(true);
    expect(setup({ entropyCoef: 0.1 }).objective).toMatchObject({ entropy: true });
  });
});

describe("an rl run", () => {
  let fixture: TrainFixture;
  beforeEach(async () => {
    fixture = await trainFixture();
    fixture.plane.judge = (judged) => judged.map((row) => score(row.response.content.length));
  });
  afterEach(() => fixture[Symbol.asyncDispose]());

  const train = (algorithm: Partial<RunSpecInput["algorithm"]>, spec: Partial<RunSpecInput> = {}) =>
    fixture.train(
      {
        trainer: { steps: 1 },
        ...spec,
        algorithm: { kind: "grpo", ...algorithm },
      },
      { rows },
    );

  it("leaves cut answers out of what is learnt, not out of their group", async () => {
    const rollout = { promptsPerStep: 2, samplesPerPrompt: 4, maxTokens: 4 };
    await train({ normalizeStd: false }, { rollout });
    const kept = fixture.plane.rollouts.get(1)?.map(({ advantage }) => advantage) ?? [];
    await train({ normalizeStd: false, dropTruncated: true }, { rollout });
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    const isCut = rollouts.map(({ finishReason }) => finishReason === "length");
    expect(isCut).toContain(true);
    expect(rollouts.map(({ advantage }) => advantage)).toEqual(
      kept.map((advantage, index) => (isCut[index] ? undefined : advantage)),
    );
    expect(fixture.metrics()[0]?.metrics.dropped_truncated).toBe(isCut.filter(Boolean).length);
    expect(fixture.engines[1]?.batches[0]?.sequences).toHaveLength(
      rollouts.filter(({ advantage }) => advantage !== undefined).length,
    );
  });

  it("takes the divergence off the reward, and keeps it out of the loss", async () => {
    await train({ klCoef: 0.5, klIn: "reward", klEstimator: "k1", normalizeStd: false });
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    const shaped = rollouts.map(({ verdict, tokenIds, mask, logprobs }) =>
      tokenIds.reduce(
        (sum, id, at) => sum - (mask[at] === 1 ? 0.5 * ((logprobs[at] ?? 0) - -id / 50) : 0),
        verdict.total ?? NaN,
      ),
    );
    for (const [index, { group, advantage }] of rollouts.entries()) {
      const mean = shaped.slice(4 * group, 4 * group + 4).reduce((sum, each) => sum + each / 4, 0);
      expect(advantage).toBeCloseTo((shaped[index] ?? NaN) - mean, 9);
    }
    const batch = fixture.engines[0]?.batches[0];
    expect(batch?.klCoef).toBe(0);
    const [first] = batch?.sequences ?? [];
    expect(first?.refLogprobs).toEqual(first?.ids.map((id, at) => (at === 0 ? 0 : -id / 50)));
    expect(fixture.metrics()[0]?.metrics.reward_penalty).toBeGreaterThan(0);
  });

  it("has the trainer compute log-probabilities again where the sampler's are weighed against them", async () => {
    await train({ importanceCap: 2 });
    const [batch] = fixture.engines[0]?.batches ?? [];
    const [first] = batch?.sequences ?? [];
    expect(batch?.importanceCap).toBe(2);
    expect(first?.oldLogprobs).toEqual(first?.ids.map((id, at) => (at === 0 ? 0 : -id / 50)));
    expect(first?.samplerLogprobs).toEqual(
      first?.ids.map((id, at) => (first.mask[at] === 1 ? -id / 100 : 0)),
    );
  });

  it("learns single answers to each prompt against the step's mean", async () => {
    const rollout = { promptsPerStep: 6, samplesPerPrompt: 1, maxTokens: 8 };
    expect(await train({ advantage: "reinforce", normalizeStd: false }, { rollout })).toBe(0);
    const rollouts = fixture.plane.rollouts.get(1) ?? [];
    const mean = rollouts.reduce((sum, { verdict }) => sum + (verdict.total ?? NaN) / 6, 0);
    for (const { verdict, advantage } of rollouts)
      expect(advantage).toBeCloseTo((verdict.total ?? NaN) - mean, 9);
  });

  describe("that samples other prompts in place of flat groups", () => {
    /** Every other prompt gets the same reward for all its answers. */
    const flatWhereEven = () => {
      fixture.plane.judge = (judged) =>
        judged.map(({ row, response }) => {
          const number = Number(/\d+/.exec(String((row as { text: string }).text))?.[0]);
          return score(number % 2 === 0 ? 1 : response.content.length);
        });
    };

    it("fills the step up, and stops at the bound", async () => {
      flatWhereEven();
      const rollout = { promptsPerStep: 4, samplesPerPrompt: 6, maxTokens: 8 };
      await train({}, { rollout, trainer: { steps: 3 } });
      const without = fixture.metrics().map(({ metrics }) => metrics.groups_used ?? NaN);
      await train({ maxExtraPrompts: 20 }, { rollout, trainer: { steps: 3 } });
      const filled = fixture.metrics().map(({ metrics }) => metrics.groups_used);
      expect(Math.min(...without)).toBeLessThan(4);
      expect(filled).toEqual([4, 4, 4]);
      const extra = fixture.metrics().map(({ metrics }) => metrics.extra_prompts ?? NaN);
      expect(Math.max(...extra)).toBeGreaterThan(0);
      const rollouts = fixture.plane.rollouts.get(1) ?? [];
      expect(rollouts.map(({ index }) => index)).toEqual(rollouts.map((_, index) => index));
      expect(rollouts).toHaveLength(6 * (4 + (extra[0] ?? NaN)));

      fixture.plane.judge = (judged) => judged.map(() => score(1));
      await train({ maxExtraPrompts: 5 }, { rollout });
      expect(fixture.metrics()[0]?.metrics).toMatchObject({ groups_used: 0, extra_prompts: 5 });
      expect(fixture.plane.rollouts.get(1)).toHaveLength(6 * 9);
    });

    it("goes on after a checkpoint as if it had never stopped", async () => {
      flatWhereEven();
      const spec = {
        trainer: { steps: 4, saveEvery: 2 },
        rollout: { promptsPerStep: 3, samplesPerPrompt: 4 },
      };
      await train({ maxExtraPrompts: 6 }, spec);
      const whole = [3, 4].map((step) => fixture.plane.rollouts.get(step));
      fixture.plane.rollouts.clear();
      await fixture.train(
        { ...spec, algorithm: { kind: "grpo", maxExtraPrompts: 6 } },
        { rows, resume: fixture.checkpointOf(2) },
      );
      expect([3, 4].map((step) => fixture.plane.rollouts.get(step))).toEqual(whole);
      expect(fixture.engines[1]?.weight).toBe(fixture.engines[0]?.weight);
    });
  });
});
