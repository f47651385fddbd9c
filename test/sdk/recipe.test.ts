import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recipes, type Recipe } from "../../sdk/recipe.ts";

describe("recipes.grpo", () => {
  it("sorts the options into rollout, algorithm and trainer", () => {
    const recipe = recipes.grpo({
      steps: 60,
      promptsPerStep: 4,
      maxTokens: 40,
      klCoef: 0.1,
      saveEvery: 20,
      evalEvery: 5,
    });
    expect(recipe).toMatchObject({
      kind: "rl",
      rollout: { promptsPerStep: 4, samplesPerPrompt: 8, maxTokens: 40 },
      algorithm: { kind: "grpo", klCoef: 0.1, clipLow: 0.2 },
      trainer: { steps: 60, learningRate: 2e-4, saveEvery: 20 },
      evalEvery: 5,
    });
    expect(Object.keys(recipe.trainer)).not.toContain("maxTokens");
  });

  it("takes what the tutorial sets, and evaluates only where that is asked for", () => {
    const recipe = recipes.grpo({
      steps: 10,
      samplesPerPrompt: 8,
      saveEvery: 5,
      evalEvery: null,
      chatTemplateKwargs: { enable_thinking: false },
    });
    expect(recipe).toMatchObject({
      rollout: { samplesPerPrompt: 8, chatTemplateKwargs: { enable_thinking: false } },
      trainer: { steps: 10, saveEvery: 5 },
      evalEvery: null,
    });
    expect(recipes.grpo({ steps: 10 }).evalEvery).toBeNull();
    expect(recipes.sft({ steps: 10 }).evalEvery).toBeNull();
  });

  it("keeps what is written and fills in the rest, whatever the values (57)", () => {
    const flat = ({ rollout, algorithm, trainer }: Recipe) => ({ ...rollout, ...algorithm, ...trainer });
    const defaults = flat(recipes.grpo({ steps: 3 }));
    const written = fc.record(
      {
        // The defaults are among them: presence decides, not value.
        learningRate: fc.constantFrom(2e-4, 5e-4),
        promptsPerStep: fc.constantFrom(16, 2),
        temperature: fc.constantFrom(1, 0.7),
        clipHigh: fc.constantFrom(0.2, 0.28),
        klCoef: fc.constantFrom(0, 0.01),
        normalizeStd: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(written, (params) => {
        expect(flat(recipes.grpo({ steps: 3, ...params }))).toEqual({ ...defaults, ...params });
      }),
    );
  });

  it("names everything that is wrong at once, with the nearest name", () => {
    expect(() => recipes.grpo({ steps: "many", learningrate: 1, clipLow: 3, prompts: 1 } as never)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(
          /steps: is a string, expected number[^]*clipLow: must be less than 1, is 3[^]*learningrate: unknown key; did you mean "learningRate"[^]*prompts: unknown key/,
        ) as string,
      }),
    );
  });

  it("takes an optimizer with its settings, and none of another's", () => {
    const { trainer } = recipes.grpo({ steps: 4, optimizer: "sgd", momentum: 0.8, nesterov: true });
    expect(trainer).toMatchObject({ optimizer: "sgd", momentum: 0.8, nesterov: true });
    expect(recipes.sft({ steps: 4 }).trainer).toMatchObject({ optimizer: "adamw" });
    const odd = {
      optimizer: "sign_sgd",
      momentum: 0.9,
      beta1: 0.9,
      decaySteps: 5,
      minLearningRate: 1,
    } as const;
    expect(() => recipes.sft({ steps: 4, ...odd })).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(
          /momentum: is of sgd and muon[^]*decaySteps: is of the linear schedule[^]*decaySteps: and warmupSteps are 5 together, more than the 4 steps[^]*minLearningRate: must be at most learningRate[^]*beta1: is of adamw and muon/,
        ) as string,
      }),
    );
  });

  it("takes the terms of an algorithm, and says at once which do not go together", () => {
    const dapo = recipes.grpo({
      steps: 4,
      clipHigh: 0.28,
      dropTruncated: true,
      overlongTokens: 64,
      maxExtraPrompts: 16,
      lengthPenalty: { turns: 0 },
    });
    expect(dapo.algorithm).toMatchObject({
      clipLow: 0.2,
      overlongTokens: 64,
      maxExtraPrompts: 16,
      lengthPenalty: { outputTokens: 0.25, inputTokens: 0.1, turns: 0 },
    });
    expect(() => recipes.grpo({ steps: 4, loss: "ipo", ratio: "sequence", overlongTokens: 300 })).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        where: "ratio",
        message: expect.stringMatching(
          /ratio of the sequence[^]*overlongTokens must be at most maxTokens/,
        ) as string,
      }),
    );
  });

  it.each([0, -3])("refuses %i steps", (steps) => {
    expect(() => recipes.grpo({ steps })).toThrow(expect.objectContaining({ code: "zero_work" }));
  });
});

describe("recipes.ppo", () => {
  it("is grpo with a critic, and one answer to each of many prompts", () => {
    expect(recipes.ppo({ steps: 3, critic: { lambda: 0.9 } })).toMatchObject({
      kind: "rl",
      algorithm: { kind: "grpo", advantage: "gae", critic: { lambda: 0.9, gamma: 1, clip: 0.5 } },
      rollout: { promptsPerStep: 128, samplesPerPrompt: 1 },
    });
    expect(recipes.ppo({ steps: 3, samplesPerPrompt: 4 }).rollout).toMatchObject({ samplesPerPrompt: 4 });
    expect(() => recipes.grpo({ steps: 3, critic: {} })).toThrow(
      expect.objectContaining({ message: expect.stringContaining("critic") as string }),
    );
  });
});

describe("recipes.sft", () => {
  it("knows its own options only", () => {
    expect(recipes.sft({ steps: 2, batchSize: 4 })).toMatchObject({
      kind: "sft",
      algorithm: { kind: "sft", batchSize: 4 },
      trainer: { steps: 2 },
    });
    expect(() => recipes.sft({ steps: 2, klCoef: 1 } as never)).toThrow(
      expect.objectContaining({ code: "unknown_key", where: "klCoef" }),
    );
  });
});
