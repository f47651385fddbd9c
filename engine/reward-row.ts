import type { DatasetRow } from "../sdk/schema/dataset.ts";
import type { ChatMessage, ParsedResponse, RewardRow } from "../sdk/schema/rollout.ts";

/** An answer, sampled here or asked for, as far as rewards are concerned. */
export interface JudgedAnswer {
  response: ParsedResponse;
  tokens: number;
  finishReason: string;
  message: ChatMessage;
}

/** What a reward function is called with: `metadata` and `variables` are columns of the row by those names. */
export function rewardRowOf(row: DatasetRow, answer: JudgedAnswer): RewardRow {
  return {
    row: row.row,
    metadata: recordOf(row.row.metadata),
    variables: recordOf(row.row.variables),
    response: answer.response,
    completion: { tokens: answer.tokens, finishReason: answer.finishReason },
    messages: [...(row.prompt as ChatMessage[]), answer.message],
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
