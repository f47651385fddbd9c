import { describe, expect, it } from "vitest";
import { JsonlDataset, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";
import { curveOf, meanOf, proofRow } from "./learning.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);
const dataset = new JsonlDataset(new URL("train.jsonl", haiku), {
  inputColumn: "keywords",
  promptTemplate: "Write a haiku about {input}.",
});

describe("PPO with a critic", () => {
  ownHome();

  it.each([1, 2, 3])(
    "raises the reward of haiku by 0.8 in under four minutes, seed %i",
    { timeout: 300_000 },
    async (seed) => {
      const startedAtMs = Date.now();
      const run = await new TrainConfig({
        model: "spotter/nano",
        dataset,
        rewards: new URL("rewards.ts", haiku),
        recipe: recipes.ppo({ steps: 60, maxTokens: 40 }),
        seed,
      }).launch();
      await run.result();
      const seconds = (Date.now() - startedAtMs) / 1_000;
      const curve = await curveOf(run, "reward/mean");
      process.stdout.write(proofRow("PPO with a critic: reward", seed, seconds, curve));
      expect(meanOf(curve.slice(-5)) - meanOf(curve.slice(0, 5))).toBeGreaterThan(0.8);
      expect(seconds).toBeLessThan(240);
    },
  );
});
