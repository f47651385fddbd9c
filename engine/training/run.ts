import { join } from "node:path";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobFile, TrainJob } from "../../sdk/schema/job.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { JobClient } from "../agent.ts";
import type { ContainerContext } from "../agent/container.ts";
import type { EngineApi, EngineSetup, OptimizerSetup, TrainerSetup } from "../onnx/engine-api.ts";
import type { TextModel } from "../onnx/text/text-model.ts";
import { criticSetup } from "./critic-step.ts";
import { createBatches, type Batches } from "./batches.ts";
import { openTeacher } from "./distill-teacher.ts";
import { trainLoop } from "./loop.ts";
import { longestSequence, type MetRow } from "./lengths.ts";
import { rowGroups } from "./mixture.ts";
import { openPython } from "./python-run.ts";
import { extraBatches } from "./extra-prompts.ts";
import { objectiveSetup } from "./policy-objective.ts";
import { createProgress } from "./progress.ts";
import { openRolloutQueue } from "./rollout-queue.ts";
import { readRows } from "./rows.ts";
import { startingPoint, type StartingPoint } from "./starting-point.ts";
import { rowsPerStep } from "./steps.ts";
import { createPromptCodec } from "./text.ts";
import { withoutThinking } from "./thinking.ts";
import { createWorld } from "./world.ts";

export interface TrainParts {
  startEngine: (setup: EngineSetup) => Promise<EngineApi>;
  loadTextModel: (modelDir: string) => Promise<TextModel>;
  now: () => number;
}

/** Sequences decoded side by side; more gains nothing on a few cores. */
const MAX_SLOTS = 32;

/** A train job from its spec to the outcome: model, rows, engine, steps. */
export async function runTraining(
  { client, job, workDir, log }: ContainerContext,
  parts: TrainParts,
): Promise<"succeeded" | "cancelled"> {
  if (job.kind !== "train")
    throw new SpotterError("invalid_input", `This container trains; the job is of kind ${job.kind}.`);
  const { spec } = job;
  const progress = createProgress(client);
  try {
    await using python = await openPython(job, client, workDir, log);
    progress.phase("download-model");
    const start = await startingPoint(job, client, workDir);
    const codec = createPromptCodec(
      await parts.loadTextModel(start.weights.modelDir),
      spec.rollout.chatTemplateKwargs,
      python.tools,
    );
    const played = { ...client, judge: python.judge, callTools: python.callTools };
    const told = { ...job, tools: python.tools };
    const world = createWorld({ job: told, rollout: spec.rollout, codec, client: played });
    progress.phase("prepare-dataset");
    const fetched = (file: JobFile) => fetchRows(client, file, workDir, spec.rollout.includeThinking);
    const rows = await fetched(job.dataset);
    const evalRows = job.evalDataset && (await fetched(job.evalDataset));
    const groups = rowGroups(rows, spec.environments);
    const batches = createBatches({ seed: spec.seed, groups, perStep: rowsPerStep(spec) });
    const extras = extraBatches(spec, groups);
    const met = metRows(spec, start, [batches, ...(extras ? [extras] : [])], rows, evalRows ?? []);
    const maxPositions = await longestSequence(spec, codec, met);
    const waiting = AbortSignal.any([client.cancelled, client.ended]);
    const teacher = await openTeacher({ spec, client, log }, codec, progress, waiting);
    await using engine = disposable(await parts.startEngine(engineSetup(job, start, maxPositions)));
    if (start.trainerDir !== undefined) await engine.api.loadTrainerState(start.trainerDir);
    const queue = await openRolloutQueue({
      lag: spec.algorithm.kind === "grpo" ? spec.algorithm.maxOffPolicySteps : 0,
      lastStep: spec.trainer.steps,
      resumeDir: job.resume && start.trainerDir,
    });
    log.info(`training steps ${start.finishedSteps + 1} to ${spec.trainer.steps}, ${rows.length} rows`);
    return await trainLoop({
      spec,
      engine: engine.api,
      codec,
      client: played,
      progress,
      workDir,
      start,
      world,
      teacher,
      rows,
      evalRows,
      batches,
      extras,
      queue,
      log,
      now: parts.now,
    });
  } catch (error) {
    // It ends before its first step: there is nothing to save.
    if (client.cancelled.aborted && !client.ended.aborted) return "cancelled";
    throw error;
  } finally {
    progress.close();
  }
}

async function fetchRows(
  client: Pick<JobClient, "download">,
  file: JobFile,
  workDir: string,
  includeThinking: boolean,
): Promise<DatasetRow[]> {
  const path = join(workDir, "datasets", `${file.sha256}.jsonl`);
  await client.download(file, path);
  const rows = await readRows(path, file.path);
  if (includeThinking) return rows;
  return rows.map((row) => ({ ...row, prompt: withoutThinking(row.prompt) }));
}

/** Every row the run will meet, of both datasets. */
function metRows(
  spec: RunSpec,
  { inheritedSteps, finishedSteps }: StartingPoint,
  all: readonly Batches[],
  rows: DatasetRow[],
  evalRows: DatasetRow[],
): MetRow[] {
  const used = new Set(
    all.flatMap((batches) =>
      batches.rowsUsed(inheritedSteps + finishedSteps + 1, inheritedSteps + spec.trainer.steps),
    ),
  );
  return [
    ...[...used].flatMap((index) => {
      const row = rows[index];
      return row === undefined ? [] : [{ row, where: `dataset row ${index + 1}` }];
    }),
    ...evalRows.map((row, index) => ({ row, where: `evalDataset row ${index + 1}` })),
  ];
}

function engineSetup(job: TrainJob, start: StartingPoint, maxPositions: number): EngineSetup {
  const { spec, threads } = job;
  const sampled = spec.rollout.promptsPerStep * spec.rollout.samplesPerPrompt;
  return {
    ...start.weights,
    threads,
    slots: Math.min(MAX_SLOTS, sampled),
    maxPositions,
    trainer: trainerSetup(spec),
  };
}

function trainerSetup(spec: RunSpec): TrainerSetup {
  const { adapter, trainer, algorithm } = spec;
  return {
    ...(adapter.kind === "lora"
      ? { lora: { rank: adapter.rank, alpha: adapter.alpha ?? 2 * adapter.rank, targets: adapter.targets } }
      : {}),
    optimizer: optimizerSetup(trainer),
    ...(algorithm.kind === "grpo" && algorithm.advantage === "gae" ? { critic: criticSetup(algorithm) } : {}),
    ...(algorithm.kind === "grpo" ? objectiveSetup(algorithm) : { reference: false }),
    seed: spec.seed,
  };
}

function optimizerSetup(trainer: RunSpec["trainer"]): OptimizerSetup {
  const { optimizer: type, beta1, beta2, epsilon, weightDecay, maxGradNorm } = trainer;
  const shared = { weightDecay, maxGradNorm };
  switch (type) {
    case "adamw":
      return { ...shared, type, beta1, beta2, epsilon };
    case "muon":
      return { ...shared, type, beta1, beta2, epsilon, momentum: trainer.momentum ?? 0.95 };
    case "sgd": {
      const { momentum = 0.9, nesterov = momentum > 0 } = trainer;
      return { ...shared, type, momentum, nesterov };
    }
    case "sign_sgd":
      return { ...shared, type };
  }
}

function disposable(api: EngineApi): AsyncDisposable & { api: EngineApi } {
  return { api, [Symbol.asyncDispose]: () => api.close() };
}
