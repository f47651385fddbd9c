import * as z from "zod/mini";
import { chatMessage } from "./rollout.ts";

/** A function the model may call, as OpenAI describes it. */
const chatTool = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().check(z.minLength(1)),
    description: z.optional(z.nullable(z.string())),
    /** A JSON schema. Absent: no arguments. */
    parameters: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
    /** Arguments must be under the schema. */
    strict: z.optional(z.nullable(z.boolean())),
  }),
});

const toolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
]);

const responseFormat = z.looseObject({
  type: z.enum(["text", "json_object", "json_schema"]),
  json_schema: z.optional(
    z.nullable(
      z.looseObject({
        name: z.optional(z.string()),
        schema: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
        strict: z.optional(z.nullable(z.boolean())),
      }),
    ),
  ),
});

const penalty = z.number().check(z.gte(-2), z.lte(2));
const bias = z.number().check(z.gte(-100), z.lte(100));

/** `POST /v1/chat/completions`. Unknown fields pass through to the engine, as in every OpenAI-compatible API. */
export const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessage).check(z.minLength(1)),
  stream: z.optional(z.nullable(z.boolean())),
  stream_options: z.optional(z.nullable(z.looseObject({ include_usage: z.optional(z.boolean()) }))),
  max_tokens: z.optional(z.nullable(z.number().check(z.int(), z.gt(0)))),
  max_completion_tokens: z.optional(z.nullable(z.number().check(z.int(), z.gt(0)))),
  temperature: z.optional(z.nullable(z.number().check(z.gte(0), z.lte(2)))),
  top_p: z.optional(z.nullable(z.number().check(z.gte(0), z.lte(1)))),
  top_k: z.optional(z.nullable(z.number().check(z.int(), z.gte(-1)))),
  min_p: z.optional(z.nullable(z.number().check(z.gte(0), z.lte(1)))),
  presence_penalty: z.optional(z.nullable(penalty)),
  frequency_penalty: z.optional(z.nullable(penalty)),
  repetition_penalty: z.optional(z.nullable(z.number().check(z.gt(0), z.lte(10)))),
  min_tokens: z.optional(z.nullable(z.number().check(z.int(), z.gte(0)))),
  ignore_eos: z.optional(z.nullable(z.boolean())),
  stop_token_ids: z.optional(z.nullable(z.array(z.number().check(z.int(), z.gte(0))).check(z.maxLength(64)))),
  logit_bias: z.optional(z.nullable(z.record(z.string().check(z.regex(/^\d{1,9}$/)), bias))),
  n: z.optional(z.nullable(z.number().check(z.int(), z.gt(0), z.lte(128)))),
  seed: z.optional(z.nullable(z.number().check(z.int()))),
  stop: z.optional(z.nullable(z.union([z.string(), z.array(z.string()).check(z.maxLength(4))]))),
  logprobs: z.optional(z.nullable(z.boolean())),
  top_logprobs: z.optional(z.nullable(z.number().check(z.int(), z.gte(0), z.lte(20)))),
  tools: z.optional(z.nullable(z.array(chatTool))),
  tool_choice: z.optional(z.nullable(toolChoice)),
  parallel_tool_calls: z.optional(z.nullable(z.boolean())),
  response_format: z.optional(z.nullable(responseFormat)),
  chat_template_kwargs: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
});
export type ChatRequest = z.infer<typeof chatRequest>;

export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface ChatAssistantMessage {
  role: "assistant";
  content: string | null;
  refusal?: null;
  reasoning_content?: string;
  tool_calls?: ChatToolCall[];
}

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Prompt tokens that were read for an earlier or a concurrent request. */
  prompt_tokens_details?: { cached_tokens: number };
}

export type ChatFinishReason = "stop" | "length" | "tool_calls";

export interface ChatLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: {
    index: number;
    message: ChatAssistantMessage;
    finish_reason: ChatFinishReason;
    logprobs: { content: ChatLogprob[] } | null;
  }[];
  usage: ChatUsage;
}

export interface ChatDelta {
  role?: "assistant";
  content?: string;
  reasoning_content?: string;
  /** The first of a call has its id, type and name, those after it only fragments of its arguments. */
  tool_calls?: (Partial<Omit<ChatToolCall, "function">> & {
    index: number;
    function?: Partial<ChatToolCall["function"]>;
  })[];
}

export interface ChatChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  choices: {
    index: number;
    delta: ChatDelta;
    finish_reason: ChatFinishReason | null;
    logprobs?: { content: ChatLogprob[] } | null;
  }[];
  usage?: ChatUsage | null;
}

/** The error body OpenAI clients parse. */
export interface OpenAiErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}
