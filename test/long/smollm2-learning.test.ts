import { loadavg } from "node:os";
import { describe, expect, it } from "vitest";
import { heldOutWords, trainWords } from "../../examples/haiku/words.ts";
import { type Checkpoint, Dataset, Endpoint, Eval, models, recipes, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "../e2e/home.ts";
import { smollm2File } from "./smollm2-file.ts";

const file = smollm2File();
const STEPS = 14;
/** What a run may take on two cores of its own. */
const LIMIT_MS = 20 * 60_000;
/** On a machine that others use as well, the test waits longer than it then allows. */
const PATIENCE_MS = 90 * 60_000;

/** One haiku to go by: without it the model, which has 135 million parameters, hardly ever writes three lines. */
const EXAMPLE = [
  { role: "user" as const, content: "Write a haiku about the moon." },
  {
    role: "assistant" as const,
    content: "A pale moon rises\nover fields of quiet snow\nthe old dog listens",
  },
];

function haikus(words: readonly string[]): Dataset {
  const about = (word: string) => ({ role: "user" as const, content: `Write a haiku about ${word}.` });
  return Dataset.fromArray(words.map((word) => ({ keywords: word, messages: [...EXAMPLE, about(word)] })));
}

const rewards = { file: new URL("../../examples/haiku/rewards.ts", import.meta.url), names: ["haiku"] };
const model = file === undefined ? undefined : models.get(file);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function scoreOf(checkpoint?: Checkpoint): Promise<{ mean: number; text: string }> {
  if (model === undefined) throw new Error("There is no model.");
  const endpoint = await Endpoint.launch(model, { checkpoint });
  await endpoint.waitUntilReady({ timeoutMs: 15 * 60_000 });
  const evaluation = await new Eval({
    endpoint,
    dataset: haikus(heldOutWords.slice(0, 16)),
    rewards,
    samplesPerRow: 4,
    chatOptions: { max_tokens: 40, temperature: 1 },
  }).launch();
  const { scores } = await evaluation.result();
  const rows = await evaluation.rows();
  await endpoint.stop();
  const haiku = scores.haiku ?? { mean: NaN, low: NaN, high: NaN, n: 0 };
  for (const { input, text, verdict } of rows.filter(({ sample }) => sample === 0).slice(0, 3))
    say(`  ${JSON.stringify(text)} (${String(input.keywords)}: ${verdict.scores.haiku?.score ?? "none"})`);
  const interval = `95 % interval [${haiku.low.toFixed(2)}, ${haiku.high.toFixed(2)}], ${haiku.n} poems`;
  return { mean: haiku.mean, text: `${haiku.mean.toFixed(2)}, ${interval}` };
}

async function train(): Promise<{ checkpoint: Checkpoint; ms: number; first: number; last: number }> {
  if (model === undefined) throw new Error("There is no model.");
  const startedMs = performance.now();
  const run = await new TrainConfig({
    model,
    dataset: haikus(trainWords),
    adapter: { kind: "lora", rank: 16 },
    recipe: recipes.grpo({
      steps: STEPS,
      promptsPerStep: 4,
      samplesPerPrompt: 8,
      maxTokens: 40,
      learningRate: 5e-4,
      saveEvery: STEPS,
    }),
    rewards,
  }).launch();
  const means: number[] = [];
  for await (const { body } of run.events()) {
    if (body.type !== "metrics" || body.metrics["reward/mean"] === undefined) continue;
    means.push(body.metrics["reward/mean"]);
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    say(
      `  step ${means.length}: reward ${means.at(-1)?.toFixed(2)}, ${seconds} s, load ${loadavg()[0]?.toFixed(1)}`,
    );
  }
  const checkpoint = (await run.result()).checkpoints().at(-1);
  if (checkpoint === undefined) throw new Error("The run has left no checkpoint.");
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    checkpoint,
    ms: performance.now() - startedMs,
    first: mean(means.slice(0, 4)),
    last: mean(means.slice(-4)),
  };
}

describe.skipIf(file === undefined)("SmolLM2-135M-Instruct, trained out of a GGUF file", () => {
  ownHome();

  it(
    "scores a syllable better at haikus after 14 steps of GRPO on an adapter",
    { timeout: PATIENCE_MS },
    async () => {
      const before = await scoreOf();
      say(`before: ${before.text}`);
      const { checkpoint, ms, first, last } = await train();
      say(`trained in ${(ms / 60_000).toFixed(1)} min: reward ${first.toFixed(2)} to ${last.toFixed(2)}`);
      const after = await scoreOf(checkpoint);
      say(`after: ${after.text}`);
      expect(last - first).toBeGreaterThanOrEqual(1);
      expect(after.mean - before.mean).toBeGreaterThanOrEqual(1);
      const busy = (loadavg()[2] ?? 0) > 4;
      if (busy) say(`The time is not judged: the machine was busy (load ${loadavg()[2]?.toFixed(1)}).`);
      else expect(ms).toBeLessThan(LIMIT_MS);
    },
  );
});
