/**
 * What SGLang's OpenAI server writes, after sgl-project/sglang at 002897c
 * (python/sglang/srt/entrypoints/openai/serving_chat.py: `_generate_chat_stream`), 0671305 (sse_utils.py:
 * `build_sse_content`) and 004c82e (protocol.py: `ErrorResponse`): every choice has `matched_stop`, the finish is
 * a chunk of its own with an empty delta, an abort is an error event that takes the place of the finish, and
 * error bodies are flat.
 *
 * @module
 */

const HEAD = { id: "7b1e", object: "chat.completion.chunk", created: 1_764_000_000, model: "base" };

/** A stream that writes `tokens`, an event each. */
export function sglangStream(tokens: string[], reasoning: string[] = []): string[] {
  return [
    sglangChunk({ role: "assistant", content: "" }),
    ...reasoning.map((text) => sglangChunk({ reasoning_content: text })),
    ...tokens.map((content) => sglangChunk({ content })),
    sglangChunk({}, "stop"),
    "data: [DONE]\n\n",
  ];
}

export function sglangChunk(delta: object, finish: string | null = null): string {
  const matched = finish === null ? null : 2;
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish, matched_stop: matched };
  return `data: ${JSON.stringify({ ...HEAD, choices: [choice] })}\n\n`;
}

/** An abort with a status, as after a timeout of the scheduler. */
export function sglangErrorEvent(message: string, code: number, type: string): string {
  return `data: {"error": {"object": "error", "message": ${JSON.stringify(message)}, "type": "${type}", "param": null, "code": ${code}}}\n\n`;
}

export function sglangError(message: string, code: number, type = "BadRequest"): string {
  return JSON.stringify({ object: "error", message, type, param: null, code });
}
