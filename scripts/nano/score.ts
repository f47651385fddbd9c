import { namesTopic, NOT_A_HAIKU, scoreHaiku } from "../../examples/haiku/score-haiku.ts";
import { parseResponse } from "../../sdk/schema/parse-response.ts";
import type { EngineApi } from "../../engine/onnx/engine-api.ts";
import type { TextModel } from "../../engine/onnx/text/text-model.ts";
import { ask, render, type Conversation } from "./conversation.ts";
import { haikuPrompt } from "./corpus.ts";
import { Random } from "./random.ts";
import { addExercise, offerTools, reverseExercise, toolExercise, type Exercise } from "./skills.ts";

export interface HaikuScores {
  samples: number;
  /** Mean of the tutorial's reward, and its 95 % interval (normal approximation). */
  mean: number;
  low: number;
  high: number;
  /** Shares of samples. */
  perfect: number;
  notThreeLines: number;
  namesTopic: number;
  distinctLines: number;
}

export interface SkillScores {
  /** Shares of right answers to greedy questions; sums in training, and sums held out of it. */
  additionSeen: number;
  additionHeldOut: number;
  reverseWord: number;
  reverseLetters: number;
  /** The right tool with exactly the right arguments. */
  toolCall: number;
}

type Sampler = Pick<EngineApi, "generate">;

/** Samples poems at temperature 1, several for each word. */
export async function scoreHaikus(
  engine: Sampler,
  text: TextModel,
  words: readonly string[],
  perWord: number,
): Promise<HaikuScores> {
  const jobs = words.flatMap((word) => Array.from({ length: perWord }, () => word));
  const poems = await Promise.all(
    jobs.map((word, seed) => answer(engine, text, ask(haikuPrompt(word)), { temperature: 1, seed })),
  );
  const scores = poems.map(scoreHaiku);
  const share = (isCounted: (index: number) => boolean) => mean(poems.map((_, i) => (isCounted(i) ? 1 : 0)));
  const average = mean(scores);
  const deviation = Math.sqrt(mean(scores.map((score) => (score - average) ** 2)));
  const margin = (1.96 * deviation) / Math.sqrt(scores.length);
  return {
    samples: scores.length,
    mean: average,
    low: average - margin,
    high: average + margin,
    perfect: share((i) => scores[i] === 0),
    notThreeLines: share((i) => scores[i] === NOT_A_HAIKU),
    namesTopic: share((i) => namesTopic(poems[i] ?? "", jobs[i] ?? "")),
    distinctLines: new Set(poems.flatMap((poem) => poem.split("\n"))).size,
  };
}

/** Asks `count` questions of each kind, greedily. */
export async function scoreSkills(
  engine: Sampler,
  text: TextModel,
  seed: number,
  count: number,
): Promise<SkillScores> {
  const random = new Random(seed);
  const rate = (make: () => Exercise) => rateAnswers(engine, text, Array.from({ length: count }, make));
  return {
    additionSeen: await rate(() => addExercise(random, false)),
    additionHeldOut: await rate(() => addExercise(random, true)),
    reverseWord: await rate(() => reverseExercise(random, "word")),
    reverseLetters: await rate(() => reverseExercise(random, "letters")),
    toolCall: await rateToolCalls(engine, text, random, count),
  };
}

async function rateAnswers(engine: Sampler, text: TextModel, exercises: Exercise[]): Promise<number> {
  const answers = await Promise.all(exercises.map(({ question }) => answer(engine, text, ask(question))));
  return mean(exercises.map((exercise, i) => (answers[i] === exercise.answer ? 1 : 0)));
}

async function rateToolCalls(
  engine: Sampler,
  text: TextModel,
  random: Random,
  count: number,
): Promise<number> {
  const exercises = Array.from({ length: count }, () => toolExercise(random, true));
  const answers = await Promise.all(
    exercises.map(({ question, tool }) =>
      answer(engine, text, { ...ask(question), tools: offerTools(random, tool) }),
    ),
  );
  const isRight = (exercise: Exercise, reply: string) => {
    const { toolCalls } = parseResponse(reply);
    const wanted = [{ name: exercise.tool, arguments: exercise.arguments }];
    return JSON.stringify(toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args }))) ===
      JSON.stringify(wanted)
      ? 1
      : 0;
  };
  return mean(exercises.map((exercise, i) => isRight(exercise, answers[i] ?? "")));
}

async function answer(
  engine: Sampler,
  text: TextModel,
  conversation: Conversation,
  { temperature = 0, seed = 0 } = {},
): Promise<string> {
  if (!text.chatTemplate) throw new TypeError("The model has no chat template");
  const { ids } = await engine.generate({
    promptIds: text.tokenizer.encode(render(text.chatTemplate, conversation, true)),
    maxNewTokens: 64,
    temperature,
    topP: 1,
    topK: 0,
    seed,
    stopIds: text.stopIds,
  });
  return text.tokenizer.decode(ids);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
