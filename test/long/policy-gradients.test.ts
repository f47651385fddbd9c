import { describe, expect, it } from "vitest";
import { JsonlDataset, recipes, TrainConfig, type GrpoParams, type Run } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);
const dataset = new JsonlDataset(new URL("train.jsonl", haiku), {
  inputColumn: "keywords",
  promptTemplate: "Write a haiku about {input}.",
});
const rewards = new URL("rewards.ts", haiku);
const STEPS = 60;
const SEEDS = [1, 2, 3];

/** `[name, settings, seeds, what the mean reward must rise by]`; 128 answers a step, all of them. */
const ALGORITHMS: [string, Partial<GrpoParams>, number[], number][] = [
  ["GRPO", {}, SEEDS, 0.8],
  [
    "REINFORCE",
    { advantage: "reinforce", loss: "importance_sampling", samplesPerPrompt: 1, promptsPerStep: 128 },
    SEEDS,
    0.8,
  ],
  ["RLOO", { advantage: "rloo", loss: "importance_sampling" }, [1], 0.8],
  ["GSPO", { ratio: "sequence", normalizer: "sequence", clipLow: 3e-4, clipHigh: 4e-4 }, [1], 0.8],
  ["Dr. GRPO", { normalizeStd: false, normalizer: "constant" }, [1], 0.8],
  ["prime-rl's default", { normalizeStd: false, loss: "dppo", driftCoef: 1e-3 }, [1], 0.8],
  ["two steps old", { maxOffPolicySteps: 2 }, [1], 0.8],
];

async function curveOf(run: Run): Promise<number[]> {
  const values: number[] = [];
  for await (const { body } of run.events())
    if (body.type === "metrics" && body.metrics["reward/mean"] !== undefined)
      values.push(body.metrics["reward/mean"]);
  return values;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** One in ten, for the log that is kept in docs/learning-proofs.md. */
const thinned = (curve: readonly number[]): string =>
  curve
    .filter((_, step) => step % 10 === 0 || step === curve.length - 1)
    .map((each) => each.toFixed(2))
    .join(" ");

describe("policy gradients raise the reward of haiku", () => {
  ownHome();
  const cases = ALGORITHMS.flatMap(([name, settings, seeds, rise]) =>
    seeds.map((seed) => ({ name, settings, seed, rise })),
  );

  it.each(cases)("$name, seed $seed", { timeout: 240_000 }, async ({ name, settings, seed, rise }) => {
    const startedAtMs = Date.now();
    const run = await new TrainConfig({
      model: "spotter/nano",
      dataset,
      rewards,
      recipe: recipes.grpo({
        steps: STEPS,
        promptsPerStep: 16,
        samplesPerPrompt: 8,
        maxTokens: 40,
        ...settings,
      }),
      seed,
    }).launch();
    await run.result();
    const curve = await curveOf(run);
    const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
    process.stdout.write(`| ${name} | ${seed} | ${seconds} s | ${thinned(curve)} |\n`);
    expect(curve).toHaveLength(STEPS);
    expect(meanOf(curve.slice(-5)) - meanOf(curve.slice(0, 5))).toBeGreaterThan(rise);
    expect(seconds).toBeLessThan(180);
  });
});
