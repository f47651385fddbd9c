import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Verdict } from "../../sdk/schema/rollout.ts";
import type { TrainSequence, TrainStepResult } from "../onnx/engine-api.ts";
import { writtenTokens } from "./episode.ts";
import type { Teacher } from "./distill-teacher.ts";
import { meanOf } from "./statistics.ts";
import type { RlStepParams, RlStepResult } from "./rl-step.ts";
import { judgeAll, rolloutOf, sampleAll, sequencesOf, type Sample } from "./samples.ts";
import { seedOf } from "./seeds.ts";
import { countVerdicts, rewardMetrics, type VerdictCount } from "./verdicts.ts";

/** What a token costs that the teacher holds for impossible: not so much that nothing else is learnt. */
const LEAST_LOGPROB = -50;
const NO_VERDICT: Verdict = { scores: {}, errors: {} };

export type DistillSpec = RunSpec & { algorithm: { kind: "distill" } };

export interface DistillStepParams extends Omit<RlStepParams, "spec"> {
  spec: DistillSpec;
  teacher: Teacher;
}

/** What the model wrote in one piece, graded token by token. */
export interface Graded {
  sample: Sample;
  /** With `advantages` of each token. */
  sequence: TrainSequence;
  /** log p_student - log p_teacher of each learnt token. */
  divergences: number[];
}

/**
 * One step of on-policy distillation: the student answers, the teacher grades each of its tokens, and the student
 * learns once. The mean of `log p_student - log p_teacher` over its own tokens estimates the reverse KL divergence.
 */
export async function distillStep(params: DistillStepParams): Promise<RlStepResult> {
  const { spec, progress, step, now } = params;
  const { steps } = spec.trainer;
  const startedAt = now();
  progress.phase("generate", step, steps);
  const samples = await sampleAll({ ...params, settings: spec.rollout }, requestsOf(params));
  const sampledAt = now();
  progress.phase("score", step, steps);
  const { klCoef } = spec.algorithm;
  const [graded, judged] = await Promise.all([
    gradeAll({ klCoef, teacher: params.teacher, signal: params.signal }, samples),
    judgedOf(params, samples),
  ]);
  const gradedAt = now();
  progress.phase("train", step, steps);
  const trained = await learn(params, graded);
  const advantages = meanAdvantages(graded);
  return {
    verdicts: judged.counted,
    rollouts: samples.map((sample, index) =>
      rolloutOf(step, sample, judged.verdicts[index] ?? NO_VERDICT, advantages.get(sample)),
    ),
    metrics: {
      ...divergenceMetrics(graded),
      ...judged.metrics,
      ...(trained === undefined ? {} : trainMetrics(trained, graded)),
      ...(spec.rollout.maxTurns === 1 ? {} : { turns: meanOf(samples.map(({ turns }) => turns)) }),
      completion_tokens: samples.reduce((sum, sample) => sum + writtenTokens(sample), 0),
      lr: params.learningRate,
      generate_seconds: (sampledAt - startedAt) / 1000,
      score_seconds: (gradedAt - sampledAt) / 1000,
      train_seconds: (now() - gradedAt) / 1000,
    },
  };
}

/** Has the teacher grade everything that the student wrote. What an environment broke off teaches nothing. */
export async function gradeAll(
  { klCoef, teacher, signal }: { klCoef: number; teacher: Teacher; signal: AbortSignal },
  samples: readonly Sample[],
): Promise<Graded[]> {
  const written = samples
    .filter(({ fault }) => fault === undefined)
    .flatMap((sample) => sequencesOf(sample, 0).map((sequence) => ({ sample, sequence })));
  const grades = await teacher.score(
    written.map(({ sequence }) => sequence.ids),
    signal,
  );
  return written.map(({ sample, sequence }, index) => {
    const advantages = tokenAdvantages(sequence, grades[index] ?? [], klCoef);
    return {
      sample,
      sequence: { ...sequence, advantages },
      divergences: advantages.flatMap((each, at) => (sequence.mask[at] === 1 ? [-each / klCoef] : [])),
    };
  });
}

/**
 * `klCoef * (log p_teacher - log p_student)` of each token that the student wrote, and 0 of the others: no token is
 * made to pay for those after it. What the teacher holds for likelier than the student did is learnt.
 *
 * @example
 * tokenAdvantages({ mask: [0, 1], oldLogprobs: [0, -2] }, [0, -0.5], 1); // [0, 1.5]
 */
export function tokenAdvantages(
  { mask, oldLogprobs = [] }: Pick<TrainSequence, "mask" | "oldLogprobs">,
  grades: readonly number[],
  klCoef: number,
): number[] {
  return mask.map((written, at) => {
    if (written !== 1) return 0;
    const teacher = Math.max(grades[at] ?? LEAST_LOGPROB, LEAST_LOGPROB);
    return klCoef * (teacher - (oldLogprobs[at] ?? 0));
  });
}

/** The reverse KL divergence as sampled, and how likely the teacher holds the student's tokens. */
export function divergenceMetrics(graded: readonly Graded[], prefix = ""): Record<string, number> {
  const tokens = graded.flatMap(({ divergences }) => divergences);
  return tokens.length === 0 ? {} : { [`${prefix}reverse_kl`]: meanOf(tokens) };
}

interface Judged {
  verdicts: Verdict[];
  counted: VerdictCount;
  metrics: Record<string, number>;
}

/** Rewards beside a teacher are measured and not learnt. */
export async function judgedOf(
  { spec, client, verdicts: before }: Pick<DistillStepParams, "spec" | "client" | "verdicts">,
  samples: readonly Sample[],
): Promise<Judged> {
  const setup = spec.rewards ?? spec.python?.rewards;
  if ((setup ?? spec.environments) === undefined) return { verdicts: [], counted: before, metrics: {} };
  const verdicts = await judgeAll(client, samples);
  // Whatever is missing: the run learns from its teacher all the same.
  const counted = countVerdicts(before, verdicts, 1);
  return { verdicts, counted, metrics: rewardMetrics(verdicts) };
}

async function learn(
  { spec, engine, learningRate }: DistillStepParams,
  graded: readonly Graded[],
): Promise<TrainStepResult | undefined> {
  if (graded.length === 0) return undefined;
  const { clipLow, clipHigh } = spec.algorithm;
  const isBounded = clipLow !== undefined || clipHigh !== undefined;
  return engine.trainStep({
    sequences: graded.map(({ sequence }) => sequence),
    loss: isBounded ? "ppo" : "importance_sampling",
    clipLow: clipLow ?? 1,
    clipHigh: clipHigh ?? Infinity,
    klCoef: 0,
    temperature: spec.rollout.temperature,
    learningRate,
    microBatchSize: spec.trainer.microBatchSize,
  });
}

function trainMetrics(trained: TrainStepResult, graded: readonly Graded[]): Record<string, number> {
  let drift = 0;
  graded.forEach(({ sequence: { mask, oldLogprobs = [] } }, index) => {
    const sampled = oldLogprobs.filter((_, at) => mask[at] === 1);
    trained.logprobs[index]?.forEach((each, token) => {
      drift = Math.max(drift, Math.abs(each - (sampled[token] ?? each)));
    });
  });
  const { loss, entropy, clipFraction, gradNorm } = trained;
  return { loss, entropy, clip_fraction: clipFraction, grad_norm: gradNorm, logprob_drift: drift };
}

/** Of each conversation, over all that the model wrote in it. */
function meanAdvantages(graded: readonly Graded[]): Map<Sample, number> {
  const learnt = ({ sequence: { mask, advantages } }: Graded) => advantages.filter((_, at) => mask[at] === 1);
  const bySample = Map.groupBy(graded, ({ sample }) => sample);
  return new Map([...bySample].map(([sample, branches]) => [sample, meanOf(branches.flatMap(learnt))]));
}

function requestsOf({ spec, prompts, totalStep }: DistillStepParams) {
  const { samplesPerPrompt } = spec.rollout;
  return prompts.flatMap((row, group) =>
    Array.from({ length: samplesPerPrompt }, (_, sample) => {
      const index = group * samplesPerPrompt + sample;
      return { index, group, row, seed: seedOf(spec.seed, "sample", totalStep, index) };
    }),
  );
}
