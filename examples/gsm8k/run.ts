/**
 * Teaches a language model to solve word problems of one step: first how an answer is written, from worked ones, then
 * by reinforcement learning to get the number right.
 *
 *   npx node examples/gsm8k/run.ts [--seed N] [--quick] [--json]
 *
 * @module
 */
import { parseArgs } from "node:util";
import { Endpoint, Eval, JsonlDataset, models, recipes, TrainConfig } from "spotter";
import type { Checkpoint, TrainConfigParams } from "spotter";
import { table, watchRun } from "spotter/render";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "0" },
    // A few steps show that everything works, not that anything is learnt.
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const seed = Number(options.seed);
const model = models.get("spotter/nano");
const rewards = new URL("./rewards.ts", import.meta.url);
const problems = (name: string) =>
  new JsonlDataset(new URL(name, import.meta.url), { inputColumn: "question", outputColumn: "answer" });
const heldOut = problems("./heldout.jsonl");

/* 1. The shipped model knows poems, and sums of two numbers; it has never seen a word problem. Worked answers show it
      how one is written. */
const warm = await train("gsm8k-warm", {
  recipe: recipes.sft({
    steps: options.quick ? 2 : 95,
    batchSize: 32,
    learningRate: 3e-3,
    warmupSteps: options.quick ? 0 : 5,
    schedule: "cosine",
  }),
});
const before = await evaluate("gsm8k-before", warm);

/* 2. For each of 16 problems it writes 8 answers, and learns from those that are better than the others. */
const trained = await train("gsm8k", {
  rewards,
  recipe: recipes.grpo({
    steps: options.quick ? 2 : 80,
    promptsPerStep: 16,
    samplesPerPrompt: 8,
    maxTokens: 40,
    learningRate: 3e-4,
  }),
  startFrom: { checkpoint: warm, mode: "weights" },
});
const after = await evaluate("gsm8k-after", trained);

if (options.json) console.log(JSON.stringify({ before, after }));
else {
  const rows = Object.entries({ before, after }).map(([name, { n, ...scores }]) => [
    `${name} reinforcement learning`,
    ...Object.values(scores).map((score) => score.toFixed(2)),
    n,
  ]);
  for (const line of table(["MODEL", "REWARD", "CORRECT", "STEP", "FORM", "ANSWERS"], rows))
    console.log(line);
}

async function train(name: string, params: Pick<TrainConfigParams, "recipe" | "rewards" | "startFrom">) {
  const run = await new TrainConfig({
    model,
    dataset: problems("./train.jsonl"),
    name,
    seed,
    ...params,
  }).launch();
  if (!options.json) await watchRun(run);
  const checkpoint = (await run.result()).checkpoints().at(-1);
  if (checkpoint === undefined) throw new Error(`${run.id} has left no checkpoint.`);
  return checkpoint;
}

/** Answers to problems whose numbers were never trained on. */
async function evaluate(name: string, checkpoint: Checkpoint) {
  const endpoint = await Endpoint.launch(model, { name, checkpoint, recreate: true });
  await endpoint.waitUntilReady();
  const evaluation = await new Eval({
    name,
    endpoint,
    dataset: options.quick ? heldOut.slice(0, 4) : heldOut,
    rewards,
    samplesPerRow: options.quick ? 1 : 8,
    chatOptions: { max_tokens: 40, temperature: 1, seed },
  }).launch();
  const { scores, n } = await evaluation.result();
  const rows = await evaluation.rows();
  const [shown] = rows;
  if (!options.json)
    console.log(`\n  ${String(shown?.input.question)}\n  ${shown?.text.replaceAll("\n", "\n  ")}\n`);
  await endpoint.stop();
  const { correct, step, form } = scores;
  const reward = rows.reduce((sum, { verdict }) => sum + (verdict.total ?? 0), 0) / n;
  return { reward, correct: correct?.mean ?? 0, step: step?.mean ?? 0, form: form?.mean ?? 0, n };
}
