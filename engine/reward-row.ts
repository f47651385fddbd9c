import type { DatasetRow } from "../sdk/schema/dataset.ts";
import type { ChatMessage, ParsedResponse, RewardRow, ToolCall } from "../sdk/schema/rollout.ts";

/** An answer, sampled here or asked for, as far as rewards are concerned. */
export interface JudgedAnswer {
  response: ParsedResponse;
  tokens: number;
  finishReason: string;
}

/** What a reward function is called with: `metadata` and `variables` are columns of the row by those names. */
export function rewardRowOf(row: DatasetRow, answer: JudgedAnswer): RewardRow {
  return {
    row: row.row,
    metadata: recordOf(row.row.metadata),
    variables: recordOf(row.row.variables),
    response: answer.response,
    completion: { tokens: answer.tokens, finishReason: answer.finishReason },
    messages: [...(row.prompt as ChatMessage[]), assistantMessage(answer.response)],
  };
}

/** A model's answer as a message of the conversation, in the form every chat template reads. */
export function assistantMessage({ content, reasoning, toolCalls }: ParsedResponse): ChatMessage {
  return {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(openAiCall) }),
  };
}

function openAiCall({ id, name, arguments: input }: ToolCall): unknown {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { ...(id === undefined ? {} : { id }), type: "function", function: { name, arguments: text } };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
