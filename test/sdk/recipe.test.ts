import { describe, expect, it } from "vitest";
import { recipes } from "../../sdk/recipe.ts";

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

  it.each([0, -3])("refuses %i steps", (steps) => {
    expect(() => recipes.grpo({ steps })).toThrow(expect.objectContaining({ code: "zero_work" }));
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
