import { exampleValue } from "../../../schema/example-value.ts";
import { isObject } from "../row-context.ts";
import type { Answer, Entry, Player, Turn } from "./player.ts";
import { estimatedPrompt, estimatedTokens } from "./token-estimate.ts";

/** What it says to a row that names no answer. */
export const MOCK_TEXT = "This is the mock model's answer.";

/** Keys of metadata that hold what is right, the first one that is there. */
const ANSWER_KEYS = ["expected_answer", "answer", "expected", "target", "ground_truth", "solution"];

/**
 * Answers without a model, always the same: the row's own answer (of sft the last message, else the
 * `expected_answer` or the like of its metadata), else a fixed text. Where a row has tools and turns left, it first
 * calls each of them once with an example of its parameters, so that tools are tried, too.
 */
export function mockPlayer(): Player {
  return {
    name: "mock",
    answer: async (turn) => answerOf(turn),
  };
}

function answerOf(turn: Turn): Answer {
  const calls =
    turn.number === 1 && turn.maxTurns > 1
      ? turn.tools.map(({ function: { name, parameters } }, index) => ({
          id: `call_1_${index + 1}`,
          name,
          arguments: exampleValue(parameters),
        }))
      : [];
  const content = calls.length > 0 ? "" : (ownAnswer(turn.entry) ?? MOCK_TEXT);
  return {
    response: { content, reasoning: "", toolCalls: calls },
    finishReason: "stop",
    promptTokens: estimatedPrompt(turn.messages),
    completionTokens: estimatedTokens(content + (calls.length > 0 ? JSON.stringify(calls) : "")),
  };
}

/** The answer that a row holds itself, where it does. */
export function ownAnswer({ row }: Entry): string | undefined {
  if (row.completion !== undefined) return row.completion;
  const { metadata } = row.row;
  if (!isObject(metadata)) return undefined;
  const value = ANSWER_KEYS.filter((key) => Object.hasOwn(metadata, key))
    .map((key) => metadata[key])
    .find((each) => each !== null && each !== undefined);
  if (value === undefined) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
