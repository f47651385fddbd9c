/**
 * What vLLM's OpenAI server writes, after vllm-project/vllm at 006c49d
 * (vllm/entrypoints/openai/chat_completion/serving.py: `chat_completion_stream_generator`) and 040a2cc
 * (vllm/entrypoints/openai/engine/protocol.py: `ErrorResponse`, `UsageInfo`): the first chunk of each choice has
 * the role and empty content, every chunk is compact JSON of the fields that were set, the finish rides on the
 * last delta, and an exception becomes an error event with a numeric code and is followed by `[DONE]`.
 *
 * @module
 */

export interface VllmOptions {
  model?: string;
  index?: number;
  finish?: string;
  /** Adds the chunk that `include_usage` asks for. */
  usage?: boolean;
}

const HEAD = { id: "chatcmpl-6f2a", object: "chat.completion.chunk", created: 1_764_000_000 };
export const DONE = "data: [DONE]\n\n";

/** A stream that writes `tokens`, an event each. */
export function vllmStream(tokens: string[], options: VllmOptions = {}): string[] {
  const { usage = false } = options;
  const last = tokens.at(-1) ?? "";
  return [
    vllmChunk({ role: "assistant", content: "" }, null, options),
    ...tokens.slice(0, -1).map((content) => vllmChunk({ content }, null, options)),
    vllmChunk({ content: last }, options.finish ?? "stop", options),
    ...(usage ? [vllmUsage(tokens.length, options)] : []),
    DONE,
  ];
}

export function vllmChunk(
  delta: object,
  finish: string | null,
  { model = "base", index = 0 }: VllmOptions = {},
) {
  const choice = { index, delta, logprobs: null, finish_reason: finish };
  return event({ ...HEAD, model, choices: [finish === null ? choice : { ...choice, stop_reason: null }] });
}

/** The one chunk without choices, before `[DONE]`. */
export function vllmUsage(completion: number, { model = "base" }: VllmOptions = {}): string {
  const usage = { prompt_tokens: 7, total_tokens: 7 + completion, completion_tokens: completion };
  return event({ ...HEAD, model, choices: [], usage });
}

/** A tool call as its parser streams it: id, type and name first, then pieces of the arguments. */
export function vllmToolCall(name: string, pieces: string[]): string[] {
  const first = { index: 0, id: "chatcmpl-tool-9d1", type: "function", function: { name } };
  return [
    vllmChunk({ role: "assistant", content: "" }, null),
    vllmChunk({ tool_calls: [first] }, null),
    ...pieces.map((args) => vllmChunk({ tool_calls: [{ index: 0, function: { arguments: args } }] }, null)),
    vllmChunk({}, "tool_calls"),
    DONE,
  ];
}

/** How `create_streaming_error_response` says that the engine failed: Python's JSON, with spaces. */
export function vllmErrorEvent(message: string, code = 500): string {
  const type = code === 400 ? "BadRequestError" : "InternalServerError";
  return `data: {"error": {"message": ${JSON.stringify(message)}, "type": "${type}", "param": null, "code": ${code}}}\n\n`;
}

/** The body of an error today. */
export function vllmError(message: string, code: number, type = "BadRequestError"): string {
  return JSON.stringify({ error: { message, type, param: null, code } });
}

/** The body of an error up to 0.9: flat. */
export function vllmFlatError(message: string, code: number, type = "BadRequestError"): string {
  return JSON.stringify({ object: "error", message, type, param: null, code });
}

export function vllmAnswer(content: string, model = "base"): string {
  const message = { role: "assistant", content, refusal: null, annotations: null, tool_calls: [] };
  return JSON.stringify({
    ...HEAD,
    object: "chat.completion",
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop", stop_reason: null }],
    usage: {
      prompt_tokens: 7,
      total_tokens: 10,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 4 },
    },
  });
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
