import { describe, expect, it } from "vitest";
import { Endpoint, Eval, JsonlDataset, recipes, type Run, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);
const rewards = new URL("rewards.ts", haiku);
const options = { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." };
const train = new JsonlDataset(new URL("train.jsonl", haiku), options);
const held = new JsonlDataset(new URL("heldout.jsonl", haiku), options);

const STEPS = 20;
const EVERY = 4;
const ROUNDS = 2;
const MOST = 1.25;

const recipe = recipes.grpo({
  steps: STEPS,
  promptsPerStep: 16,
  samplesPerPrompt: 8,
  maxTokens: 40,
  saveEvery: EVERY,
});

describe("evals of a run's checkpoints", () => {
  ownHome();

  it("slow the trainer on this machine by a quarter at most", { timeout: 1_200_000 }, async () => {
    const endpoint = await Endpoint.launch("spotter/nano");
    const source = await new Eval({
      ...{
        endpoint,
        dataset: held,
        rewards,
        samplesPerRow: 16,
        passAt: [1, 4, 8],
        passThreshold: -1,
        concurrency: 32,
      },
      chatOptions: { max_tokens: 40 },
    }).launch();
    await source.result();
    await endpoint.stop();
    const evals = [{ evalId: source.id, everySteps: EVERY, name: "haiku" }];
    // In turns, so that what else the machine does is in both.
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(...(await stepSeconds(await launch())));
      const run = await launch({ evals });
      beside.push(...(await stepSeconds(run)));
      const { metrics } = (await run.refresh()).record;
      expect(
        Object.keys(metrics)
          .filter((name) => name.startsWith("haiku_"))
          .sort(),
      ).toEqual([...["haiku_pass1", "haiku_pass4", "haiku_pass8"]]);
      expect(metrics["haiku_pass1"]).toBeLessThanOrEqual(metrics["haiku_pass8"] ?? 0);
    }
    const slowdown = medianOf(beside) / medianOf(alone);
    const total = sumOf(beside) / sumOf(alone);
    process.stdout.write(
      `a step alone ${medianOf(alone).toFixed(3)} s, beside evals ${medianOf(beside).toFixed(3)} s: ` +
        `${percent(slowdown)} slower by the median, ${percent(total)} in all (${beside.length} steps each)\n`,
    );
    expect(slowdown).toBeLessThanOrEqual(MOST);
    expect(await Eval.list()).toHaveLength(1);
  });
});

async function launch(more: Partial<ConstructorParameters<typeof TrainConfig>[0]> = {}): Promise<Run> {
  return new TrainConfig({ model: "spotter/nano", dataset: train, recipe, rewards, ...more }).launch();
}

/** Of all steps but the first, in which everything is still cold. */
async function stepSeconds(run: Run): Promise<number[]> {
  const seconds: number[] = [];
  for await (const { body } of run.events())
    if (body.type === "metrics" && "step_seconds" in body.metrics && body.step > 1)
      seconds.push(body.metrics["step_seconds"] ?? 0);
  await run.result();
  return seconds;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function percent(ratio: number): string {
  return `${((ratio - 1) * 100).toFixed(1)} %`;
}
