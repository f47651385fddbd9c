import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { RewardRow } from "../../sdk/schema/rollout.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import type { Batches } from "./batches.ts";
import { learnTeachersAnswers } from "./distill-answers.ts";
import { distillStep } from "./distill-step.ts";
import type { Teacher } from "./distill-teacher.ts";
import type { Progress } from "./progress.ts";
import { playStep } from "./play-step.ts";
import { learnStep, type RlStepParams, type RlStepResult } from "./rl-step.ts";
import type { RolloutQueue } from "./rollout-queue.ts";
import { learningRateAt } from "./schedule.ts";
import { sftSequences, sftStep } from "./sft-step.ts";
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
  /** Of a distillation. */
  teacher?: Teacher | undefined;
  rows: DatasetRow[];
  batches: Batches;
  /** Rows to sample in place of those that have nothing to tell. */
  extras?: Batches | undefined;
  queue: RolloutQueue;
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
  const { spec, engine, codec, client, progress, batches, step, totalStep, signal } = context;
  const learningRate = learningRateAt(spec.trainer, step);
  if (spec.algorithm.kind !== "sft") {
    const sampled = {
      ...context,
      client: { judge: (batch: RewardRow[]) => unlessAborted(client.judge(batch), signal) },
      ...promptsOf(context, totalStep),
      learningRate,
    };
    const { algorithm } = spec;
    if (algorithm.kind === "grpo") return policyStep(context, { ...sampled, spec: { ...spec, algorithm } });
    if (context.teacher === undefined) throw new Error("A distillation was begun without its teacher.");
    const taught = { ...sampled, spec: { ...spec, algorithm }, teacher: context.teacher };
    return algorithm.answers === "teacher" ? learnTeachersAnswers(taught) : distillStep(taught);
  }
  progress.phase("train", step, spec.trainer.steps);
  const learnt = rowsOf(context, batches, totalStep).map(({ row, index }) => ({
    row,
    where: `dataset row ${index + 1}`,
  }));
  const sequences = sftSequences(codec, learnt, spec.algorithm);
  return {
    metrics: await sftStep(engine, spec, sequences, learningRate),
    rollouts: [],
    verdicts: context.verdicts,
  };
}

/** Samples what this step learns from, or what a later one will: the weights are then older. */
async function policyStep(context: StepContext, params: RlStepParams): Promise<RlStepResult> {
  const { step, totalStep } = context;
  const played = await context.queue.of(step, (other) => {
    const at = totalStep + other - step;
    return playStep({ ...params, ...promptsOf(context, at), totalStep: at });
  });
  return learnStep(params, played);
}

function promptsOf(
  context: StepContext,
  totalStep: number,
): Pick<RlStepParams, "prompts"> & { extraPrompts: DatasetRow[] } {
  const { batches, extras } = context;
  return {
    prompts: rowsOf(context, batches, totalStep).map(({ row }) => row),
    extraPrompts: extras === undefined ? [] : rowsOf(context, extras, totalStep).map(({ row }) => row),
  };
}

function rowsOf(
  { rows }: StepContext,
  batches: Batches,
  totalStep: number,
): { index: number; row: DatasetRow }[] {
  return batches.rowsOfStep(totalStep).map((index) => ({ index, row: rows[index] ?? missingRow(index) }));
}

/** How many dataset rows a step takes. */
export function rowsPerStep(spec: RunSpec): number {
  return spec.algorithm.kind === "sft" ? spec.algorithm.batchSize : spec.rollout.promptsPerStep;
}

function missingRow(index: number): never {
  throw new RangeError(`The plan asks for row ${index}, which the dataset does not have.`);
}
