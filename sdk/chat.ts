import type {
  ChatAssistantMessage,
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ChatFinishReason,
  ChatLogprob,
  ChatToolCall,
  ChatUsage,
} from "./schema/chat.ts";
import { ERROR_CODES, type ErrorCode } from "./schema/error-codes.ts";
import { SpotterError } from "./schema/errors.ts";
import type { ChatMessage } from "./schema/rollout.ts";
import { checkChat } from "./chat-options.ts";
import type { Client } from "./client.ts";
import { readSse } from "./sse.ts";

export type { ChatMessage, ChatToolCall, ChatUsage, ChatFinishReason, ChatLogprob };

/** Options of a chat call. Every other field of OpenAI's Chat Completions API is passed on as it is. */
export interface ChatOptions {
  max_tokens?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  seed?: number;
  stop?: string | string[];
  tools?: unknown[];
  /** Default: `auto` with tools. */
  tool_choice?: "none" | "auto" | "required" | { type: "function"; function: { name: string } };
  /** False: one call at most. Default: true. */
  parallel_tool_calls?: boolean;
  /** The shape of the content. Default: any text. */
  response_format?:
    | { type: "text" | "json_object" }
    | {
        type: "json_schema";
        json_schema: { name: string; schema?: Record<string, unknown>; strict?: boolean };
      };
  logprobs?: boolean;
  top_logprobs?: number;
  /** Handed to the chat template, for example `{ enable_thinking: false }`. */
  chat_template_kwargs?: Record<string, unknown>;
  signal?: AbortSignal;
  /** Time for one try. Default 600,000. */
  timeoutMs?: number;
  /** Tries in all: 429, 5xx and broken connections are repeated. Default 4. */
  maxAttempts?: number;
  [option: string]: unknown;
}

export interface ChatReply {
  /** Empty where the model only reasoned or called tools. */
  content: string;
  reasoningContent: string | undefined;
  toolCalls: ChatToolCall[];
  /** As received; append it to the messages to go on. */
  message: ChatAssistantMessage;
  finishReason: ChatFinishReason;
  usage: ChatUsage;
  logprobs: ChatLogprob[] | undefined;
  /** The whole answer, with every choice. */
  completion: ChatCompletion;
}

/** A piece of a streamed answer; only what is new is set. */
export interface ChatStreamDelta {
  role?: "assistant";
  content?: string;
  reasoningContent?: string;
  /** A call's id and name come first, then fragments of its arguments; join them by `index`. */
  toolCalls?: NonNullable<ChatDelta["tool_calls"]>;
  finishReason?: ChatFinishReason;
  logprobs?: ChatLogprob[];
  /** On the last piece. */
  usage?: ChatUsage;
}

const PATH = "/v1/chat/completions";
const TIMEOUT_MS = 600_000;

/** One chat completion of a served model. */
export async function chat(
  client: Client,
  model: string,
  messages: readonly ChatMessage[],
  options: ChatOptions = {},
): Promise<ChatReply> {
  checkChat(messages, options);
  const { signal, timeoutMs = TIMEOUT_MS, maxAttempts, ...fields } = options;
  const json = { ...fields, model, messages };
  const request = { json, signal, timeoutMs, maxAttempts };
  const completion = await client.receive("POST", PATH, request, readCompletion);
  const choice = completion.choices?.[0];
  if (!choice) throw new SpotterError("internal", `The answer of ${model} has no choice.`);
  return {
    content: choice.message.content ?? "",
    reasoningContent: choice.message.reasoning_content,
    toolCalls: choice.message.tool_calls ?? [],
    message: choice.message,
    finishReason: choice.finish_reason,
    usage: completion.usage,
    logprobs: choice.logprobs?.content,
    completion,
  };
}

async function readCompletion(response: Response): Promise<ChatCompletion> {
  return (await response.json()) as ChatCompletion;
}

/** The same, piece by piece. Leaving the loop early aborts the request. */
export async function* streamChat(
  client: Client,
  model: string,
  messages: readonly ChatMessage[],
  options: ChatOptions = {},
): AsyncGenerator<ChatStreamDelta, void, undefined> {
  checkChat(messages, options);
  const { signal, timeoutMs = TIMEOUT_MS, maxAttempts, ...fields } = options;
  const left = new AbortController();
  const json = { stream_options: { include_usage: true }, ...fields, model, messages, stream: true };
  try {
    const response = await client.open("POST", PATH, {
      json,
      signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
      timeoutMs,
      maxAttempts,
    });
    yield* readDeltas(response, model);
  } catch (error) {
    signal?.throwIfAborted();
    throw SpotterError.is(error) ? error : brokenStream(model, error);
  } finally {
    left.abort();
  }
}

async function* readDeltas(
  response: Response,
  model: string,
): AsyncGenerator<ChatStreamDelta, void, undefined> {
  if (!response.body) throw brokenStream(model, undefined);
  for await (const data of readSse(response.body)) {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data) as ChatChunk & { error?: { message?: string; code?: string | null } };
    if (chunk.error) throw streamError(chunk.error);
    const delta = deltaOf(chunk);
    if (Object.keys(delta).length > 0) yield delta;
  }
  throw brokenStream(model, undefined);
}

function deltaOf(chunk: ChatChunk): ChatStreamDelta {
  const choice = chunk.choices?.[0];
  const delta = choice?.delta;
  return {
    ...(delta?.role && { role: delta.role }),
    ...(delta?.content && { content: delta.content }),
    ...(delta?.reasoning_content && { reasoningContent: delta.reasoning_content }),
    ...(delta?.tool_calls && { toolCalls: delta.tool_calls }),
    ...(choice?.finish_reason && { finishReason: choice.finish_reason }),
    ...(choice?.logprobs && { logprobs: choice.logprobs.content }),
    ...(chunk.usage && { usage: chunk.usage }),
  };
}

function streamError(error: { message?: string; code?: string | null }): SpotterError {
  const code = error.code && error.code in ERROR_CODES ? (error.code as ErrorCode) : "engine_failed";
  return new SpotterError(code, error.message ?? "The stream ended with an error.");
}

function brokenStream(model: string, cause: unknown): SpotterError {
  return new SpotterError("daemon_unreachable", `The answer of ${model} broke off before its end.`, {
    hint: "What was received so far is not the whole answer. Ask again.",
    retryable: true,
    cause,
  });
}
