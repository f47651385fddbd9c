import type { Client } from "../../sdk/client.ts";
import { Dataset, recipes, type Run, TrainConfig } from "../../sdk/index.ts";

export const STEPS = 12;

const TOPICS = ["rain", "snow", "moss", "river", "stone", "wind"];

/** Time that rewards take: enough for a step to be met at any of its phases, or for somebody to interfere. */
export const QUICK_MS = 60;
export const SLOW_MS = 350;

/** A run that takes seconds and passes through everything: rollouts, rewards, steps, three checkpoints. */
export function launchWork(client: Client, model: string, waitMs = QUICK_MS): Promise<Run> {
  const rows = TOPICS.map((topic) => ({ topic, waitMs }));
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
