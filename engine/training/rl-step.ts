import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { GrpoAlgorithm } from "../../sdk/schema/grpo-algorithm.ts";
import type { Rollout } from "../../sdk/schema/rollout.ts";
import type { JobClient } from "../agent.ts";
import type { EngineApi, TrainSequence, TrainStepResult } from "../onnx/engine-api.ts";
import { advantagesOf } from "./advantages/index.ts";
import { criticise } from "./critic-step.ts";
import { writtenTokens } from "./episode.ts";
import { inGroups, type Played } from "./play-step.ts";
import { policyObjective } from "./policy-objective.ts";
import type { Progress } from "./progress.ts";
import { rolloutOf, sequencesOf, writtenLogprobs, type Sample } from "./samples.ts";
import { shapedRewards } from "./shaping.ts";
import { meanOf } from "./statistics.ts";
import type { PromptCodec } from "./text.ts";
import { countVerdicts, rewardMetrics, type VerdictCount } from "./verdicts.ts";
import type { World } from "./world.ts";

/** Share of verdicts that may be missing where only environments judge: the default of rewards. */
const MISSING_SHARE = 0.2;

export interface RlStepParams {
  spec: RunSpec & { algorithm: GrpoAlgorithm };
  engine: EngineApi;
  codec: PromptCodec;
  client: Pick<JobClient, "judge">;
  progress: Progress;
  /** Step within the run; what rollouts are filed under. */
  step: number;
  /** Step counted over continued runs; what the random numbers hang on. */
  totalStep: number;
  prompts: DatasetRow[];
  /** Prompts to sample, in this order, in place of those whose answers all score the same. Default: none. */
  extraPrompts?: DatasetRow[];
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

/** A sample to learn from. */
interface Learnt {
  sample: Sample;
  advantage: number;
  /** Log-probabilities under the reference, a list a branch, where they are known already. */
  references?: number[][] | undefined;
  /** What is learnt of it, where that is no one advantage for all tokens. */
  sequences?: TrainSequence[];
}

/** What is left of a step of policy gradients once its answers are judged: compare them, and learn once. */
export async function learnStep(params: RlStepParams, played: Played): Promise<RlStepResult> {
  const { spec, progress, step, now } = params;
  const { samples, verdicts } = played;
  const { maxMissingShare = MISSING_SHARE } = spec.rewards ?? spec.python?.rewards ?? {};
  const counted = countVerdicts(params.verdicts, verdicts, maxMissingShare);
  progress.phase("train", step, spec.trainer.steps);
  const startedAt = now();
  const references = await rewardReferences(params, samples);
  const rewards = rewardsOf(spec, played, references);
  const advantages = advantagesOf(spec.algorithm, inGroups(rewards, spec.rollout.samplesPerPrompt)).map(
    (advantage, index) => (isDropped(spec.algorithm, samples[index]) ? undefined : advantage),
  );
  const compared = samples.flatMap((sample, index): Learnt[] => {
    const advantage = advantages[index];
    return advantage === undefined ? [] : [{ sample, advantage, references: references?.[index] }];
  });
  const { learnt, metrics: criticMetrics } = await withCritic(params, compared);
  const learntBy = new Map(learnt.map((each) => [each.sample, each.advantage]));
  const trained = await learn(params, learnt, samples.length);
  return {
    verdicts: counted,
    rollouts: samples.map((sample, index) =>
      rolloutOf(step, sample, verdicts[index] ?? { scores: {}, errors: {} }, learntBy.get(sample)),
    ),
    metrics: {
      ...rewardMetrics(verdicts),
      ...(trained === undefined ? {} : trainMetrics(trained, learnt)),
      ...criticMetrics,
      groups_used: new Set(learnt.map(({ sample }) => sample.request.group)).size,
      completion_tokens: samples.reduce((sum, sample) => sum + writtenTokens(sample), 0),
      ...conversationMetrics(spec, samples),
      ...shapingMetrics(spec.algorithm, played, rewards),
      lr: params.learningRate,
      generate_seconds: played.generateMs / 1000,
      score_seconds: played.scoreMs / 1000,
      train_seconds: (now() - startedAt) / 1000,
    },
  };
}

/** Where the divergence is taken off the reward, all answers need the reference's log-probabilities; else none does yet. */
async function rewardReferences(
  { spec: { algorithm, rollout }, engine }: RlStepParams,
  samples: readonly Sample[],
): Promise<number[][][] | undefined> {
  if (algorithm.klIn !== "reward" || algorithm.klCoef === 0) return undefined;
  const branches = samples.map((sample) => sequencesOf(sample, 0).map(({ ids }) => ids));
  const scores = await engine.score(branches.flat(), "reference", rollout.temperature);
  return branches.map((each) => scores.splice(0, each.length));
}

/** What the samples are worth in the end, in their order. */
function rewardsOf(
  { algorithm, rollout }: RlStepParams["spec"],
  { samples, verdicts }: Played,
  references: number[][][] | undefined,
): (number | undefined)[] {
  const size = rollout.samplesPerPrompt;
  return inGroups(samples, size).flatMap((group, place) => {
    const of = <T>(values: readonly T[]): T[] => values.slice(place * size, (place + 1) * size);
    return shapedRewards({
      algorithm,
      maxTokens: rollout.maxTokens,
      samples: group,
      rewards: of(verdicts).map(({ total }) => total),
      references: references && of(references),
    });
  });
}

/** An answer that was cut says little of what it would have become. */
function isDropped({ dropTruncated }: GrpoAlgorithm, sample: Sample | undefined): boolean {
  return dropTruncated && (sample?.finishReason === "length" || sample?.truncated === true);
}

/** With a critic, what was a reward until now becomes advantages of tokens. */
async function withCritic(
  { spec: { algorithm }, engine }: RlStepParams,
  compared: readonly Learnt[],
): Promise<{ learnt: readonly Learnt[]; metrics: Record<string, number> }> {
  if (algorithm.advantage !== "gae" || compared.length === 0) return { learnt: compared, metrics: {} };
  const judged = compared.map(({ sample, advantage }) => ({ sample, reward: advantage }));
  const { criticised, metrics } = await criticise(engine, algorithm, judged);
  return { learnt: criticised.map((each, index) => ({ ...compared[index], ...each })), metrics };
}

/** Nothing to learn (every group flat or without verdicts) is no step at all: the weights stay. */
async function learn(
  { spec, engine, learningRate }: RlStepParams,
  learnt: readonly Learnt[],
  samples: number,
): Promise<TrainStepResult | undefined> {
  if (learnt.length === 0) return undefined;
  const sequences: TrainSequence[] = learnt.flatMap((each) =>
    (each.sequences ?? sequencesOf(each.sample, each.advantage)).map((sequence, branch) => ({
      ...sequence,
      ...(each.references && { refLogprobs: each.references[branch] }),
    })),
  );
  const { temperature, maxTokens } = spec.rollout;
  const objective = policyObjective(spec.algorithm, { samples, maxTokens });
  const ids = sequences.map((sequence) => sequence.ids);
  if (objective.klCoef > 0) {
    const reference = await engine.score(ids, "reference", temperature);
    sequences.forEach((sequence, index) => {
      sequence.refLogprobs = reference[index] ?? [];
    });
  }
  if (objective.importanceCap !== undefined) {
    const current = await engine.score(ids, "policy", temperature);
    sequences.forEach((sequence, index) => {
      sequence.samplerLogprobs = sequence.oldLogprobs ?? [];
      sequence.oldLogprobs = current[index] ?? [];
    });
  }
  return engine.trainStep({
    sequences,
    ...objective,
    temperature,
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

/** Of what is set only. */
function shapingMetrics(
  algorithm: GrpoAlgorithm,
  { samples, verdicts, extraPrompts }: Played,
  rewards: readonly (number | undefined)[],
): Record<string, number> {
  const losses = verdicts.flatMap(({ total }, index) => {
    const reward = rewards[index];
    return total === undefined || reward === undefined ? [] : [total - reward];
  });
  const isShaped =
    algorithm.lengthPenalty !== undefined ||
    algorithm.overlongTokens !== undefined ||
    (algorithm.klIn === "reward" && algorithm.klCoef > 0);
  return {
    ...(isShaped ? { reward_penalty: meanOf(losses) } : {}),
    ...(algorithm.dropTruncated
      ? { dropped_truncated: samples.filter((sample) => isDropped(algorithm, sample)).length }
      : {}),
    ...(algorithm.maxExtraPrompts > 0 ? { extra_prompts: extraPrompts } : {}),
  };
}

function trainMetrics(trained: TrainStepResult, learnt: readonly Learnt[]): Record<string, number> {
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
    ...(trained.valueLoss === undefined ? {} : { value_loss: trained.valueLoss }),
    logprob_drift: drift,
  };
}
