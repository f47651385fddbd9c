import type { ChatCompletion, ChatToolCall } from "../../../schema/chat.ts";
import { SpotterError } from "../../../schema/errors.ts";
import { parseResponse } from "../../../schema/parse-response.ts";
import type { ParsedResponse, ToolCall } from "../../../schema/rollout.ts";
import type { Answer, Player, Turn } from "./player.ts";
import { jsonText } from "./json-text.ts";
import { estimatedPrompt, estimatedTokens } from "./token-estimate.ts";

/** Sends the body of a chat completion somewhere. */
export type Ask = (body: Record<string, unknown>, signal: AbortSignal) => Promise<ChatCompletion>;

export interface ChatPlayerParams {
  name: string;
  ask: Ask;
  /** Fields of every request: the model, the temperature and the like. */
  fields: Record<string, unknown>;
  /** What the server calls the longest answer. Default `max_tokens`. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Whether the server takes a seed. Default true. */
  takesSeed?: boolean;
}

/** A model that answers chat completions. */
export function chatPlayer(params: ChatPlayerParams): Player {
  const { name, fields, maxTokensField = "max_tokens", takesSeed = true } = params;

  async function ask(body: Record<string, unknown>, maxTokens: number, signal: AbortSignal) {
    try {
      return await params.ask({ ...body, [maxTokensField]: maxTokens }, signal);
    } catch (error) {
      // The window of config.yml may be larger than what this model has: then what it has is the limit.
      if (!SpotterError.is(error) || error.code !== "context_length_exceeded") throw error;
      return params.ask(body, signal);
    }
  }

  async function answer(turn: Turn): Promise<Answer> {
    const body = {
      ...fields,
      messages: turn.messages,
      ...(turn.tools.length > 0 ? { tools: turn.tools } : {}),
      ...(takesSeed ? { seed: turn.seed } : {}),
    };
    return answerOf(await ask(body, turn.maxTokens, turn.signal), turn, name);
  }

  return { name, answer };
}

function answerOf(completion: ChatCompletion, turn: Turn, name: string): Answer {
  const choice = completion.choices?.[0];
  if (!choice?.message)
    throw new SpotterError("engine_failed", `${name} answered without a message.`, {
      hint: "The server has to speak OpenAI's chat completions.",
    });
  const { content, reasoning_content: reasoning, tool_calls: calls } = choice.message;
  const text = content ?? "";
  const { usage } = completion as Partial<Pick<ChatCompletion, "usage">>;
  return {
    response: responseOf(text, reasoning ?? "", calls ?? [], turn.tools.length > 0),
    finishReason: choice.finish_reason === "length" ? "length" : "stop",
    promptTokens: usage?.prompt_tokens ?? estimatedPrompt(turn.messages),
    completionTokens: usage?.completion_tokens ?? estimatedTokens(text),
  };
}

/** Servers that take answers apart have done so; with others thinking and calls stand in the text. */
function responseOf(
  text: string,
  reasoning: string,
  calls: ChatToolCall[],
  hasTools: boolean,
): ParsedResponse {
  if (reasoning === "" && calls.length === 0 && /<\/?think>|<tool_call>/.test(text)) {
    const parsed = parseResponse(text);
    return hasTools ? parsed : { ...parsed, toolCalls: [] };
  }
  return { content: text, reasoning, toolCalls: calls.map(toolCallOf) };
}

function toolCallOf({ id, function: { name, arguments: text } }: ChatToolCall): ToolCall {
  return { id, name, arguments: jsonText(text) ?? text };
}
