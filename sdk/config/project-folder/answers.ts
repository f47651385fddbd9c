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

/** Whether an answer is a text and nothing else, to something: no call of a tool, no parts, not the first word. */
export function isText({ index, message }: Answer): boolean {
  const { content, tool_calls: calls } = message;
  return index > 0 && typeof content === "string" && (!Array.isArray(calls) || calls.length === 0);
}
