import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { ChatMessage, Rollout } from "../../sdk/schema/rollout.ts";
import type { TeacherTokens } from "../../sdk/schema/job-teacher.ts";
import type { TrainSequence, TrainStepResult } from "../onnx/engine-api.ts";
import { assistantMessage } from "../reward-row.ts";
import type { DistillStepParams } from "./distill-step.ts";
import { meanOf } from "./statistics.ts";
import type { RlStepResult } from "./rl-step.ts";
import { seedOf } from "./seeds.ts";
import type { PromptCodec } from "./text.ts";

/** A prompt and what the teacher wrote to it. */
interface Lesson {
  group: number;
  row: DatasetRow;
  promptIds: number[];
  /** With the token that ends the turn, where the teacher ended it. */
  ids: number[];
  logprobs: number[];
  isEnded: boolean;
}

/**
 * One step of off-policy distillation (arXiv:1606.07947, sequence-level): the teacher answers the prompts, and the
 * student learns its words as SFT does. Answers hang on the run's seed and the step, so a resumed run gets the same.
 */
export async function learnTeachersAnswers(params: DistillStepParams): Promise<RlStepResult> {
  const { spec, engine, progress, step, learningRate, now } = params;
  const { steps, microBatchSize } = spec.trainer;
  const startedAt = now();
  progress.phase("generate", step, steps);
  const lessons = await askAll(params);
  const answeredAt = now();
  progress.phase("train", step, steps);
  const trained = await engine.trainStep({
    sequences: lessons.map(sequenceOf),
    loss: "sft",
    clipLow: 0,
    clipHigh: 0,
    klCoef: 0,
    temperature: 1,
    learningRate,
    microBatchSize,
  });
  return {
    verdicts: params.verdicts,
    rollouts: lessons.map((lesson, index) => rolloutOf(params, lesson, index)),
    metrics: {
      loss: trained.loss,
      ...forwardKl(params, lessons, trained),
      entropy: trained.entropy,
      grad_norm: trained.gradNorm,
      completion_tokens: trained.tokens,
      lr: learningRate,
      generate_seconds: (answeredAt - startedAt) / 1000,
      train_seconds: (now() - answeredAt) / 1000,
    },
  };
}

async function askAll({
  spec,
  codec,
  teacher,
  prompts,
  totalStep,
  signal,
}: DistillStepParams): Promise<Lesson[]> {
  const { samplesPerPrompt, maxTokens, temperature, topP, topK, contextTokens = Infinity } = spec.rollout;
  const asked = prompts.flatMap((row, group) =>
    Array.from({ length: samplesPerPrompt }, () => ({ group, row, promptIds: codec.promptIds(row) })),
  );
  const answers = await teacher.answer(
    asked.map(({ promptIds }) => promptIds),
    {
      maxTokens,
      contextTokens: Math.min(contextTokens, codec.contextLength),
      temperature,
      topP,
      topK,
      seed: seedOf(spec.seed, "teacher", totalStep),
    },
    signal,
  );
  return asked.map((each, index) => ({ ...each, ...endedAnswer(codec, answers[index]) }));
}

/** Some servers leave the token out that ended the answer; the student must learn to end as well. */
function endedAnswer(
  { stopIds }: Pick<PromptCodec, "stopIds">,
  { ids, logprobs, isEnded = false }: TeacherTokens = { ids: [], logprobs: [] },
): Pick<Lesson, "ids" | "logprobs" | "isEnded"> {
  const end = stopIds[0];
  if (!isEnded || end === undefined || stopIds.includes(ids.at(-1) ?? -1)) return { ids, logprobs, isEnded };
  return { ids: [...ids, end], logprobs, isEnded };
}

function sequenceOf({ promptIds, ids }: Lesson): TrainSequence {
  const mask = [...promptIds.map(() => 0), ...ids.map(() => 1)];
  return { ids: [...promptIds, ...ids], mask, advantages: mask };
}

/** How much likelier the teacher held its own words than the student does: KL(teacher || student) as sampled. */
function forwardKl(
  { spec }: DistillStepParams,
  lessons: readonly Lesson[],
  { logprobs }: TrainStepResult,
): Record<string, number> {
  const { temperature, topP, topK } = spec.rollout;
  // Otherwise the words are not samples of the distribution that they are scored by.
  if (temperature !== 1 || topP !== 1 || topK !== 0) return {};
  const gaps = lessons.flatMap(({ logprobs: taught }, index) =>
    taught.flatMap((each, at) => {
      const own = logprobs[index]?.[at];
      return own === undefined ? [] : [each - own];
    }),
  );
  return gaps.length === 0 ? {} : { forward_kl: meanOf(gaps) };
}

function rolloutOf({ codec, step }: DistillStepParams, lesson: Lesson, index: number): Rollout {
  const { group, row, promptIds, ids, logprobs, isEnded } = lesson;
  const text = codec.decode(ids);
  const before = promptIds.map(() => 0);
  return {
    step,
    index,
    group,
    row: row.row,
    messages: [...(row.prompt as ChatMessage[]), assistantMessage(codec.parse(row, text))],
    tokenIds: [...promptIds, ...ids],
    mask: [...before, ...ids.map(() => 1)],
    logprobs: [...before, ...ids.map((_, at) => logprobs[at] ?? 0)],
    text,
    finishReason: isEnded ? "stop" : "length",
    verdict: { scores: {}, errors: {} },
  };
}
