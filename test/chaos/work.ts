import type { Client } from "../../sdk/client.ts";
import { Dataset, recipes, type Run, TrainConfig } from "../../sdk/index.ts";

export const STEPS = 12;

const rows = ["rain", "snow", "moss", "river", "stone", "wind"].map((topic) => ({ topic }));

/** A run that takes seconds and passes through everything: rollouts, rewards, steps, three checkpoints. */
export function launchWork(client: Client, model: string): Promise<Run> {
  return new TrainConfig({
    model,
    dataset: Dataset.fromArray(rows, { inputColumn: "topic" }),
    recipe: recipes.grpo({
      steps: STEPS,
      promptsPerStep: 2,
      samplesPerPrompt: 4,
      maxTokens: 8,
      saveEvery: 2,
      learningRate: 1e-3,
    }),
    rewards: new URL("rewards.ts", import.meta.url),
    seed: 11,
    name: "chaos",
  }).launch({ client });
}
