import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import type { Batches } from "./batches.ts";
import type { Progress } from "./progress.ts";
import { rlStep, type RlStepResult } from "./rl-step.ts";
import { learningRateAt } from "./schedule.ts";
import { sftSequence, sftStep } from "./sft-step.ts";
import { unlessAborted } from "./stop.ts";
import type { PromptCodec } from "./text.ts";
import type { VerdictCount } from "./verdicts.ts";
import type { World } from "./world.ts";

export interface StepContext {
  spec: RunSpec;
  engine: EngineApi;
  codec: PromptCodec;
  client: Pick<JobClient, "judge">;
  progress: Progress;
  world: World;
  rows: DatasetRow[];
  batches: Batches;
  /** Within this run, from 1: what schedule and reports count. */
  step: number;
  /** Over continued runs: what rows and random numbers hang on, so that N + N steps equal 2N. */
  totalStep: number;
  verdicts: VerdictCount;
  signal: AbortSignal;
  now: () => number;
}

/** One step of whichever algorithm the spec names. */
export async function runStep(context: StepContext): Promise<RlStepResult> {
  const { spec, engine, codec, client, progress, rows, batches, step, totalStep, signal } = context;
  const learningRate = learningRateAt(spec.trainer, step);
  const picked = batches.rowsOfStep(totalStep).map((index) => ({
    index,
    row: rows[index] ?? missingRow(index),
  }));
  if (spec.algorithm.kind === "grpo") {
    const prompts = picked.map(({ row }) => row);
    return rlStep({
      spec: { ...spec, algorithm: spec.algorithm },
      engine,
      codec,
      client: { judge: (batch) => unlessAborted(client.judge(batch), signal) },
      progress,
      step,
      totalStep,
      prompts,
      world: context.world,
      learningRate,
      verdicts: context.verdicts,
      signal,
      now: context.now,
    });
  }
  progress.phase("train", step, spec.trainer.steps);
  const sequences = picked.map(({ row, index }) => sftSequence(codec, row, `dataset row ${index + 1}`));
  return {
    metrics: await sftStep(engine, spec, sequences, learningRate),
    rollouts: [],
    verdicts: context.verdicts,
  };
}

/** How many dataset rows a step takes. */
export function rowsPerStep(spec: RunSpec): number {
  return spec.algorithm.kind === "sft" ? spec.algorithm.batchSize : spec.rollout.promptsPerStep;
}

function missingRow(index: number): never {
  throw new RangeError(`The plan asks for row ${index}, which the dataset does not have.`);
}
