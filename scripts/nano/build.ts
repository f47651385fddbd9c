/**
 * Rebuilds spotter/nano from nothing: corpus, tokenizer, pretraining, scores.
 *
 *   npm run nano [-- --out DIR] [--steps N] [--threads N]
 *
 * @module
 */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { heldOutWords, trainWords } from "../../examples/haiku/words.ts";
import { Policy } from "../../engine/onnx/models/policy.ts";
import { loadTextModel } from "../../engine/onnx/text/text-model.ts";
import { randomPolicy } from "../../engine/onnx/train/init.ts";
import { Trainer } from "../../engine/onnx/train/trainer.ts";
import { shape, writeJson, writeTextFiles } from "./model-folder.ts";
import { pretrain, type PretrainProgress, type PretrainSettings } from "./pretrain.ts";
import { withSampler } from "./sampler.ts";
import { scoreHaikus, scoreSkills } from "./score.ts";

const SEED = 7;

const optimizer = {
  type: "adamw" as const,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0.05,
  maxGradNorm: 1,
};

const { values: flags } = parseArgs({
  options: {
    out: { type: "string", default: join(import.meta.dirname, "../../engine/models/nano") },
    steps: { type: "string", default: "3000" },
    threads: { type: "string", default: "2" },
  },
});
const settings: PretrainSettings = {
  seed: SEED,
  steps: Number(flags.steps),
  shortPerStep: 64,
  toolsEvery: 6,
  toolsPerStep: 24,
  learningRate: 3e-3,
  warmupSteps: 50,
  finalShare: 0.05,
};
const outDir = resolve(flags.out);
const threads = Number(flags.threads);
const startMs = performance.now();

// Built elsewhere and copied when it is complete: a build that fails leaves the model that is there.
const work = await mkdtemp(join(tmpdir(), "spotter-nano-"));
try {
  console.log("Training the tokenizer ...");
  await writeTextFiles(work, SEED);
  console.log("Pretraining ...");
  const trained = await train();
  console.log("Scoring ...");
  const scores = await score();
  await writeJson(join(work, "report.json"), {
    model: "spotter/nano",
    settings: { ...settings, optimizer },
    trained,
    scores,
  });
  await cp(work, outDir, { recursive: true });
  console.log(JSON.stringify(scores, null, 2));
  console.log(`Wrote ${outDir} in ${elapsedS().toFixed(0)} s.`);
} finally {
  await rm(work, { recursive: true, force: true });
}

async function train(): Promise<PretrainProgress> {
  const policy = randomPolicy(shape, SEED);
  await policy.save(work);
  const trainer = await Trainer.create(
    policy,
    { optimizer, reference: false, seed: SEED },
    // On a busy machine, threads that spin for each other take more time than they save.
    { threads, maxPositions: 256, spinning: false },
  );
  try {
    const done = await pretrain(trainer, await loadTextModel(work), settings, printProgress);
    await policy.save(work, "BF16");
    return done;
  } finally {
    await trainer.close();
  }
}

/** Scores what was written, with the rounding of its weights. */
async function score() {
  const text = await loadTextModel(work);
  return withSampler(await Policy.load(work), threads, async (sample) => ({
    heldOut: await scoreHaikus(sample, text, heldOutWords, 32),
    training: await scoreHaikus(sample, text, trainWords, 4),
    skills: await scoreSkills(sample, text, SEED, 200),
  }));
}

function printProgress({ step, loss, tokens }: PretrainProgress): void {
  if (step % 100 !== 0 && step !== settings.steps) return;
  console.log(
    `step ${step}/${settings.steps}  loss ${loss.toFixed(3)}  ${(tokens / 1000).toFixed(0)}k tokens  ${elapsedS().toFixed(0)} s`,
  );
}

function elapsedS(): number {
  return (performance.now() - startMs) / 1000;
}
