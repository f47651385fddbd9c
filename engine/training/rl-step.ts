import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { Rollout } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi, TrainSequence, TrainStepResult } from "../onnx/engine-api.ts";
import { groupAdvantages, meanOf } from "./grpo.ts";
import type { Progress } from "./progress.ts";
import { writtenTokens } from "./episode.ts";
import {
  judgeAll,
  rolloutOf,
  sampleAll,
  sequencesOf,
  writtenLogprobs,
  type Sample,
  type SampleRequest,
} from "./samples.ts";
import { seedOf } from "./seeds.ts";
import type { PromptCodec } from "./text.ts";
import { countVerdicts, rewardMetrics, type VerdictCount } from "./verdicts.ts";
import type { World } from "./world.ts";

/** Share of verdicts that may be missing where only environments judge: the default of rewards. */
const MISSING_SHARE = 0.2;

export interface RlStepParams {
  spec: RunSpec & { algorithm: { kind: "grpo" } };
  engine: EngineApi;
  codec: PromptCodec;
  client: Pick<JobClient, "judge">;
  progress: Progress;
  /** Step within the run; what rollouts are filed under. */
  step: number;
  /** Step counted over continued runs; what the random numbers hang on. */
  totalStep: number;
  prompts: DatasetRow[];
  world: World;
  learningRate: number;
  verdicts: VerdictCount;
  signal: AbortSignal;
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
}

export interface RlStepResult {
  metrics: Record<string, number>;
  rollouts: Rollout[];
  verdicts: VerdictCount;
}

/** One GRPO step: sample a group per prompt, judge, compare within groups, learn once. */
export async function rlStep(params: RlStepParams): Promise<RlStepResult> {
  const { spec, progress, step, now } = params;
  const startedAt = now();
  progress.phase("generate", step, spec.trainer.steps);
  const samples = await sampleAll({ ...params, settings: spec.rollout }, requestsOf(params));
  const sampledAt = now();
  progress.phase("score", step, spec.trainer.steps);
  const verdicts = await judgeAll(params.client, samples);
  const judgedAt = now();
  const { maxMissingShare = MISSING_SHARE } = spec.rewards ?? spec.python?.rewards ?? {};
  const counted = countVerdicts(params.verdicts, verdicts, maxMissingShare);
  const advantages = inGroups(verdicts, spec.rollout.samplesPerPrompt).flatMap((group) =>
    groupAdvantages(
      group.map((verdict) => verdict.total),
      spec.algorithm.normalizeStd,
    ),
  );
  progress.phase("train", step, spec.trainer.steps);
  const learnt = samples.flatMap((sample, index) => {
    const advantage = advantages[index];
    return advantage === undefined ? [] : [{ sample, advantage }];
  });
  const trained = await learn(params, learnt);
  return {
    verdicts: counted,
    rollouts: samples.map((sample, index) =>
      rolloutOf(step, sample, verdicts[index] ?? { scores: {}, errors: {} }, advantages[index]),
    ),
    metrics: {
      ...rewardMetrics(verdicts),
      ...(trained === undefined ? {} : trainMetrics(trained, learnt)),
      groups_used: new Set(learnt.map(({ sample }) => sample.request.group)).size,
      completion_tokens: samples.reduce((sum, sample) => sum + writtenTokens(sample), 0),
      ...conversationMetrics(spec, samples),
      lr: params.learningRate,
      generate_seconds: (sampledAt - startedAt) / 1000,
      score_seconds: (judgedAt - sampledAt) / 1000,
      train_seconds: (now() - judgedAt) / 1000,
    },
  };
}

function requestsOf({ spec, prompts, totalStep }: RlStepParams): SampleRequest[] {
  const { samplesPerPrompt } = spec.rollout;
  return prompts.flatMap((row, group) =>
    Array.from({ length: samplesPerPrompt }, (_, sample) => {
      const index = group * samplesPerPrompt + sample;
      return { index, group, row, seed: seedOf(spec.seed, "sample", totalStep, index) };
    }),
  );
}

/** Nothing to learn (every group flat or without verdicts) is no step at all: the weights stay. */
async function learn(
  { spec, engine, learningRate }: RlStepParams,
  learnt: { sample: Sample; advantage: number }[],
): Promise<TrainStepResult | undefined> {
  if (learnt.length === 0) return undefined;
  const sequences: TrainSequence[] = learnt.flatMap(({ sample, advantage }) =>
    sequencesOf(sample, advantage),
  );
  const { klCoef, clipLow, clipHigh } = spec.algorithm;
  if (klCoef > 0) {
    const ids = sequences.map((sequence) => sequence.ids);
    const reference = await engine.score(ids, "reference", spec.rollout.temperature);
    sequences.forEach((sequence, index) => {
      sequence.refLogprobs = reference[index] ?? [];
    });
  }
  return engine.trainStep({
    sequences,
    loss: "ppo",
    clipLow,
    clipHigh,
    klCoef,
    temperature: spec.rollout.temperature,
    learningRate,
    microBatchSize: spec.trainer.microBatchSize,
  });
}

/** Of conversations only: one prompt and one answer have nothing to tell. */
function conversationMetrics(spec: RunSpec, samples: readonly Sample[]): Record<string, number> {
  if (spec.rollout.maxTurns === 1) return {};
  return {
    turns: meanOf(samples.map(({ turns }) => turns)),
    truncated: samples.filter(({ truncated }) => truncated).length,
  };
}

function trainMetrics(trained: TrainStepResult, learnt: { sample: Sample }[]): Record<string, number> {
  let drift = 0;
  learnt
    .flatMap(({ sample }) => writtenLogprobs(sample))
    .forEach((written, index) => {
      written.forEach((sampled, token) => {
        drift = Math.max(drift, Math.abs(sampled - (trained.logprobs[index]?.[token] ?? sampled)));
      });
    });
  return {
    loss: trained.loss,
    kl: trained.kl,
    entropy: trained.entropy,
    clip_fraction: trained.clipFraction,
    grad_norm: trained.gradNorm,
    logprob_drift: drift,
  };
}

function inGroups<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size),
  );
}
