import { isObject } from "./row-context.ts";

/** A message of the assistant, and where it stands. */
export interface Answer {
  index: number;
  message: Record<string, unknown>;
}

/** The assistant's messages of a conversation: in dataset_type sft each of them is learnt. */
export function answersOf(messages: unknown): Answer[] {
  if (!Array.isArray(messages)) return [];
  return (messages as unknown[]).flatMap((message, index) =>
    isObject(message) && message.role === "assistant" ? [{ index, message }] : [],
  );
}

/** Whether an answer is to something, and a text, or calls of tools, or both: not the first word, no parts. */
export function isLearnt(answer: Answer): boolean {
  const { content } = answer.message;
  return (
    answer.index > 0 && (typeof content === "string" || ((content ?? null) === null && callsTools(answer)))
  );
}

/** Whether an answer calls tools. */
export function callsTools({ message: { tool_calls: calls } }: Answer): boolean {
  return Array.isArray(calls) && calls.length > 0;
}
