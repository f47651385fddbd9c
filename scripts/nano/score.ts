import { isDeepStrictEqual } from "node:util";
import { namesTopic, NOT_A_HAIKU, scoreHaiku } from "../../examples/haiku/score-haiku.ts";
import { parseResponse } from "../../sdk/schema/parse-response.ts";
import type { GenerateRequest } from "../../engine/onnx/engine-api.ts";
import type { TextModel } from "../../engine/onnx/text/text-model.ts";
import { ask, chatTemplateOf, render, type Conversation } from "./conversation.ts";
import { haikuPrompt } from "./corpus.ts";
import { Random } from "./random.ts";
import type { Sample } from "./sampler.ts";
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

/** Samples poems at temperature 1, several for each word. */
export async function scoreHaikus(
  sample: Sample,
  text: TextModel,
  words: readonly string[],
  perWord: number,
): Promise<HaikuScores> {
  const jobs = words.flatMap((word) => Array.from({ length: perWord }, () => word));
  const requests = jobs.map((word, seed) => ({
    ...request(text, ask(haikuPrompt(word))),
    temperature: 1,
    seed,
  }));
  const poems = (await sample(requests)).map((ids) => text.tokenizer.decode(ids));
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
  sample: Sample,
  text: TextModel,
  seed: number,
  count: number,
): Promise<SkillScores> {
  const random = new Random(seed);
  const rate = (make: () => Exercise) => rateAnswers(sample, text, Array.from({ length: count }, make));
  return {
    additionSeen: await rate(() => addExercise(random, false)),
    additionHeldOut: await rate(() => addExercise(random, true)),
    reverseWord: await rate(() => reverseExercise(random, "word")),
    reverseLetters: await rate(() => reverseExercise(random, "letters")),
    toolCall: await rateToolCalls(sample, text, random, count),
  };
}

async function rateAnswers(sample: Sample, text: TextModel, exercises: readonly Exercise[]): Promise<number> {
  const answers = await answerGreedily(
    sample,
    text,
    exercises.map(({ question }) => ask(question)),
  );
  return mean(exercises.map((exercise, i) => (answers[i] === exercise.answer ? 1 : 0)));
}

async function rateToolCalls(
  sample: Sample,
  text: TextModel,
  random: Random,
  count: number,
): Promise<number> {
  const exercises = Array.from({ length: count }, () => toolExercise(random, true));
  const answers = await answerGreedily(
    sample,
    text,
    exercises.map(({ question, tool }) => ({ ...ask(question), tools: offerTools(random, tool) })),
  );
  return mean(exercises.map((exercise, i) => (isCallOf(exercise, answers[i] ?? "") ? 1 : 0)));
}

function isCallOf(exercise: Exercise, answer: string): boolean {
  const calls = parseResponse(answer).toolCalls.map((call) => ({
    name: call.name,
    arguments: call.arguments,
  }));
  return isDeepStrictEqual(calls, [{ name: exercise.tool, arguments: exercise.arguments }]);
}

async function answerGreedily(
  sample: Sample,
  text: TextModel,
  conversations: readonly Conversation[],
): Promise<string[]> {
  const answers = await sample(conversations.map((conversation) => request(text, conversation)));
  return answers.map((ids) => text.tokenizer.decode(ids));
}

function request(text: TextModel, conversation: Conversation): GenerateRequest {
  return {
    promptIds: text.tokenizer.encode(render(chatTemplateOf(text), conversation, true)),
    maxNewTokens: 64,
    temperature: 0,
    topP: 1,
    topK: 0,
    seed: 0,
    stopIds: text.stopIds,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
