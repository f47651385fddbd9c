import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Verdict } from "../../sdk/schema/rollout.ts";
import { isLearnable, type SftAlgorithm } from "../../sdk/schema/sft-algorithm.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi } from "../onnx/engine-api.ts";
import { divergenceMetrics, gradeAll, type Graded } from "./distill-step.ts";
import type { Teacher } from "./distill-teacher.ts";
import { meanOf } from "./statistics.ts";
import { writtenTokens } from "./episode.ts";
import { judgeAll, sampleAll } from "./samples.ts";
import { seedOf } from "./seeds.ts";
import { sftSequences } from "./sft-step.ts";
import type { PromptCodec } from "./text.ts";
import { rewardMetrics } from "./verdicts.ts";
import type { World } from "./world.ts";

export interface EvaluateParams {
  spec: RunSpec;
  engine: EngineApi;
  codec: PromptCodec;
  client: Pick<JobClient, "judge">;
  world: World;
  teacher?: Teacher | undefined;
  rows: readonly DatasetRow[];
  signal: AbortSignal;
}

/** Rows judged or scored in one call. */
const CHUNK = 128;

/**
 * Metrics of the held-out rows, all under `eval/`: the rewards of one answer a row (sampled as in training,
 * with the same seeds every time, so that evaluations differ by the weights alone), what a teacher says of it, and for
 * sft the loss.
 */
export async function evaluate(params: EvaluateParams): Promise<Record<string, number>> {
  const { algorithm } = params.spec;
  return {
    ...(isJudged(params.spec) || params.teacher !== undefined ? await answersOf(params) : {}),
    ...(algorithm.kind === "sft" ? await lossOf(params, algorithm) : {}),
  };
}

function isJudged({ rewards, python, environments }: RunSpec): boolean {
  return (rewards ?? python?.rewards ?? environments) !== undefined;
}

async function answersOf(params: EvaluateParams): Promise<Record<string, number>> {
  const { spec, engine, codec, client, world, teacher, rows, signal } = params;
  const verdicts: Verdict[] = [];
  const graded: Graded[] = [];
  let tokens = 0;
  for (let first = 0; first < rows.length; first += CHUNK) {
    const requests = rows.slice(first, first + CHUNK).map((row, offset) => ({
      index: first + offset,
      group: first + offset,
      row,
      seed: seedOf(spec.seed, "eval", first + offset),
    }));
    const samples = await sampleAll({ engine, codec, settings: spec.rollout, world, signal }, requests);
    if (isJudged(spec)) verdicts.push(...(await judgeAll(client, samples)));
    if (teacher !== undefined) graded.push(...(await gradeAll({ klCoef: 1, teacher, signal }, samples)));
    tokens += samples.reduce((sum, sample) => sum + writtenTokens(sample), 0);
  }
  return {
    ...(isJudged(spec) ? rewardMetrics(verdicts, "eval/") : {}),
    ...divergenceMetrics(graded, "eval/"),
    "eval/completion_tokens": tokens,
  };
}

/** Mean negative log-likelihood of what would be learnt of the rows. */
async function lossOf(
  { engine, codec, rows, signal }: EvaluateParams,
  algorithm: SftAlgorithm,
): Promise<Record<string, number>> {
  const losses: number[] = [];
  for (let first = 0; first < rows.length; first += CHUNK) {
    signal.throwIfAborted();
    const learnt = rows
      .slice(first, first + CHUNK)
      .map((row, offset) => ({ row, where: `evalDataset row ${first + offset + 1}` }))
      .filter(({ row }) => isLearnable(row, algorithm));
    const sequences = sftSequences(codec, learnt, algorithm);
    const logprobs = await engine.score(
      sequences.map((sequence) => sequence.ids),
      "policy",
      1,
    );
    sequences.forEach((sequence, index) => {
      sequence.mask.forEach((learnt, token) => {
        if (learnt === 1) losses.push(-(logprobs[index]?.[token] ?? 0));
      });
    });
  }
  return losses.length === 0 ? {} : { "eval/loss": meanOf(losses) };
}
