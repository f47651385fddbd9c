import { describe, expect, it } from "vitest";
import { JsonlDataset, recipes, TrainConfig, type Checkpoint, type Run } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);
const options = { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." };
const dataset = new JsonlDataset(new URL("train.jsonl", haiku), options);
const evalDataset = new JsonlDataset(new URL("heldout.jsonl", haiku), options);
const rewards = new URL("rewards.ts", haiku);
const common = { model: "spotter/nano", dataset, evalDataset, rewards };
const sampling = { promptsPerStep: 16, maxTokens: 40 };

/** A metric of every step. */
async function curveOf(run: Run, name: string): Promise<number[]> {
  const values: number[] = [];
  for await (const { body } of run.events())
    if (body.type === "metrics" && body.metrics[name] !== undefined) values.push(body.metrics[name]);
  return values;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

/** One in five, for the log that is kept in docs/learning-proofs.md. */
const thinned = (curve: readonly number[]): string =>
  curve
    .filter((_, step) => step % 5 === 0 || step === curve.length - 1)
    .map((each) => each.toFixed(2))
    .join(" ");

describe("distillation", () => {
  ownHome();
  let teacher: Checkpoint | undefined;
  let taught = 0;

  it("has a teacher that learnt from rewards", { timeout: 420_000 }, async () => {
    const run = await new TrainConfig({
      ...common,
      recipe: recipes.grpo({ ...sampling, steps: 100, samplesPerPrompt: 8, evalEvery: 100 }),
      seed: 11,
    }).launch();
    teacher = (await run.result()).checkpoints().at(-1);
    await run.refresh();
    taught = run.record.metrics["eval/reward/mean"] ?? Number.NaN;
    process.stdout.write(`teacher: held-out ${taught.toFixed(2)}\n`);
  });

  it.each([1, 2, 3])(
    "brings a student near its teacher without rewards, seed %i",
    { timeout: 240_000 },
    async (seed) => {
      if (teacher === undefined) throw new Error("There is no teacher.");
      const startedAtMs = Date.now();
      const run = await new TrainConfig({
        ...common,
        teacher,
        recipe: recipes.distill({ ...sampling, steps: 60, samplesPerPrompt: 4, evalEvery: 60 }),
        seed,
      }).launch();
      await run.result();
      await run.refresh();
      const [kl, reward] = [await curveOf(run, "reverse_kl"), await curveOf(run, "reward/mean")];
      const heldOut = run.record.metrics["eval/reward/mean"] ?? Number.NaN;
      const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
      process.stdout.write(
        `seed ${seed}: ${seconds} s, held-out ${heldOut.toFixed(2)}\n  reverse KL ${thinned(kl)}\n  reward ${thinned(reward)}\n`,
      );
      expect(meanOf(kl.slice(-5))).toBeLessThan(0.15 * meanOf(kl.slice(0, 3)));
      // Nobody told it of the rewards: they are those of what the teacher does.
      expect(meanOf(reward.slice(-5)) - meanOf(reward.slice(0, 3))).toBeGreaterThan(1);
      expect(taught - heldOut).toBeLessThan(0.8);
      expect(seconds).toBeLessThan(180);
    },
  );
});
