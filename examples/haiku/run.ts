/**
 * Teaches a language model to write haikus: 5, 7 and 5 syllables. Serve the base model, score it, train it by
 * reinforcement learning, serve and score the checkpoint, train on, score again. Everything on this machine.
 *
 *   npm run demo [-- --json] [--plain-reward] [--home DIR] [--quick]
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Endpoint, Eval, JsonlDataset, models, recipes, SpotterError, TrainConfig } from "spotter";
import type { Checkpoint, Interval } from "spotter";
import { durationText, spotterCommand, table, watchRun } from "spotter/render";
import { stopLocalDaemon } from "spotter/local";
import { readOptions } from "./options.ts";
import { scoreHaiku } from "./score-haiku.ts";
import { heldOutFile, promptTemplate, trainFile } from "./words.ts";

const options = readOptions();
const startedMs = performance.now();

// A state folder and a daemon of its own, so that every demo starts from nothing and disturbs nothing.
const home =
  options.home === undefined ? mkdtempSync(join(tmpdir(), "spotter-haiku-")) : resolve(options.home);
process.env.SPOTTER_HOME = home;
process.env.SPOTTER_PORT ??= "0";

/* The model: a million parameters, shipped with the package. It follows "Write a haiku about X." imperfectly.
   A folder of weights would do as well, or one of the Hugging Face hub after `spotter model pull hf:owner/name`. */
const model = models.get("spotter/nano");

/* The datasets: words to write about. The held-out ones are never trained on. */
const dataset = new JsonlDataset(trainFile, { inputColumn: "keywords", promptTemplate });
const heldOut = new JsonlDataset(heldOutFile, { inputColumn: "keywords", promptTemplate });

/* The rewards: `haiku` is the scoring function of the tutorial, `topic` is 1 if the poem names its topic. */
const rewards = new URL("./rewards.ts", import.meta.url);

/* The trainings belong to the daemon, so Ctrl-C ends this script alone. */
let runId: string | undefined;
let isLeaving = false;
process.on("SIGINT", leave);

try {
  const result = await tutorial();
  tellNext(result.runIds);
  if (options.json) console.log(JSON.stringify(result));
} catch (error) {
  process.exitCode = 1;
  const { message, hint } = SpotterError.from(error);
  say(`\nThe demo failed: ${message}${hint === undefined ? "" : `\n${hint}`}`);
  if (options.json) console.log(JSON.stringify(SpotterError.from(error).toBody()));
} finally {
  await cleanUp();
}

async function tutorial() {
  /* 1. Deploy the base model. */
  title("Deploy the base model");
  const base = await serve();

  /* 2. Score one poem by hand. The scoring function returns -10 if there are not three lines, else minus the
        syllables that are too many or too few. */
  title("Ask it, and score the answer by hand");
  const reply = await base.chat([{ role: "user", content: "Write a haiku about rain." }], {
    max_tokens: 40,
    seed: 1,
  });
  say(
    `${indent(reply.content)}\n\nscore ${scoreHaiku(reply.content)}, ${reply.usage.completion_tokens} tokens`,
  );

  /* 3. Evaluate the base model: eight poems for each held-out word. */
  title("Evaluate the base model");
  const baseScore = await evaluate(base, "base");

  /* 4. Train. For each of 16 words the model writes 8 poems, and learns from those that are better than the
        others of their word. */
  title("Train");
  const first = await train(60);

  /* 5. Serve and evaluate the checkpoint, with the same words. */
  title("Serve and evaluate the checkpoint");
  const trainedScore = await evaluate(await serve(first.checkpoint), "trained");

  /* 6. Continue training off the checkpoint: same optimizer, sixty steps more. */
  title("Continue training");
  const second = await train(60, first.checkpoint);

  /* 7. Evals, evals, evals. */
  title("Serve and evaluate the new checkpoint");
  const continuedScore = await evaluate(await serve(second.checkpoint), "continued");

  title("Result");
  const scores = { base: baseScore, trained: trainedScore, continued: continuedScore };
  const rows = Object.entries(scores).map(([name, score]) => [
    name,
    score.mean.toFixed(2),
    `[${score.low.toFixed(2)}, ${score.high.toFixed(2)}]`,
    score.n,
    `${(100 * score.topicShare).toFixed(0)} %`,
  ]);
  for (const line of table(["MODEL", "HAIKU SCORE", "95 % INTERVAL", "POEMS", "NAMES THE TOPIC"], rows))
    say(line);
  const seconds = Math.round(performance.now() - startedMs) / 1000;
  say(`\n0 would be perfect. It took ${durationText(seconds * 1000)}.`);
  return { ...scores, seconds, runIds: [first.id, second.id] };
}

interface Score extends Interval {
  topicShare: number;
}

/** Launches an endpoint and waits until it answers. */
async function serve(checkpoint?: Checkpoint): Promise<Endpoint> {
  const endpoint = await Endpoint.launch(model, { checkpoint });
  await endpoint.waitUntilReady({ timeoutMs: 15 * 60_000 });
  say(`${checkpoint?.id ?? model.name} answers at ${endpoint.url}`);
  return endpoint;
}

/** Scores an endpoint on the held-out words, shows three of its poems, and stops it. */
async function evaluate(endpoint: Endpoint, name: string): Promise<Score> {
  const evaluation = await new Eval({
    name,
    endpoint,
    dataset: options.quick ? heldOut.slice(0, 4) : heldOut,
    rewards,
    samplesPerRow: options.quick ? 2 : 8,
    chatOptions: { max_tokens: 40, temperature: 1 },
  }).launch();
  const { scores } = await evaluation.result();
  const { haiku, topic } = scores;
  if (!haiku || !topic) throw new Error("rewards.ts must export the rewards haiku and topic.");
  for (const { input, text, verdict } of (await evaluation.rows())
    .filter(({ sample }) => sample === 0)
    .slice(0, 3)) {
    say(
      `${indent(text)}\n    about ${String(input.keywords)}, score ${verdict.scores.haiku?.score ?? "none"}\n`,
    );
  }
  say(
    `mean ${haiku.mean.toFixed(2)}, 95 % interval [${haiku.low.toFixed(2)}, ${haiku.high.toFixed(2)}], ${haiku.n} poems`,
  );
  say(`${(100 * topic.mean).toFixed(0)} % name their topic`);
  await endpoint.stop();
  return { ...haiku, topicShare: topic.mean };
}

/** Trains, shows how it goes, and returns the last checkpoint. */
async function train(steps: number, startFrom?: Checkpoint): Promise<{ id: string; checkpoint: Checkpoint }> {
  const run = await new TrainConfig({
    model,
    dataset,
    recipe: recipes.grpo({
      steps: options.quick ? 2 : steps,
      promptsPerStep: options.quick ? 4 : 16,
      samplesPerPrompt: 8,
      maxTokens: 40,
      learningRate: 2e-4,
      saveEvery: 20,
    }),
    rewards: options["plain-reward"] ? { file: rewards, names: ["haiku"] } : rewards,
    ...(startFrom && { startFrom: { checkpoint: startFrom, mode: "continue" } }),
  }).launch();
  say(`run ${run.id}, ${run.url}`);
  say("It goes on without this script. To look again:");
  say(spotterCommand(`run watch ${run.id}`));
  runId = run.id;
  await watchRun(run, { indent: "  " });
  runId = undefined;
  const checkpoint = (await run.result()).checkpoints().at(-1);
  if (!checkpoint) throw new Error(`${run.id} has left no checkpoint.`);
  say(`checkpoint ${checkpoint.id} in ${checkpoint.path}`);
  return { id: run.id, checkpoint };
}

/** Ctrl-C: what goes on, and how to see and to stop it. */
function leave(): void {
  // npm passes on what the terminal has sent already.
  if (isLeaving) return;
  isLeaving = true;
  // Whatever draws a bar tidies up first.
  setImmediate(() => {
    say(runId === undefined ? "\nThe daemon goes on." : "\nThe training goes on. Watch:");
    if (runId !== undefined) say(`  ${spotterCommand(`run watch ${runId}`)}`);
    say(`Stop:\n  ${spotterCommand("down")}`);
    process.exit(130);
  });
}

/** What became of the state, and where to go from here. */
function tellNext(runIds: readonly string[]): void {
  if (options.home === undefined) {
    say("\nIts state was temporary and goes now. To keep it: npm run demo -- --home ./gym");
  } else {
    say(`\nIts state is in ${home}. Look at it:`);
    say(`  ${spotterCommand("open")}`);
    say(`  ${spotterCommand(`run get ${runIds.at(-1)}`)}`);
  }
  say("Next: change the rewards in examples/haiku/rewards.ts, or train on rows of your own (README.md).");
}

/** Ends the daemon that this demo started. A folder named with --home stays, with all that is in it. */
async function cleanUp(): Promise<void> {
  await stopLocalDaemon();
  if (options.home === undefined) rmSync(home, { recursive: true });
}

function title(text: string): void {
  say(`\n== ${text} ==`);
}

function indent(text: string): string {
  return text.trim().replaceAll(/^/gm, "    ");
}

function say(text: string): void {
  console.log(text);
}
