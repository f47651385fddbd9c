import { exampleValue } from "./example-value.ts";

/** What of a chat completion's body says what is asked, and in which form. */
interface Asked {
  messages?: unknown;
  response_format?: { json_schema?: { schema?: unknown } };
}

/**
 * The chat completion of a mock that judges: a verdict that fits the schema that is asked for, the same for the same
 * question, and about anything at all. It goes the way of a real answer, so that what a reward does with one is tried.
 */
export function mockJudgement(body: unknown): object {
  const { messages, response_format: format } = (body ?? {}) as Asked;
  const verdict = exampleValue(format?.json_schema?.schema, pickBy(JSON.stringify(messages) ?? ""));
  const message = { role: "assistant", content: JSON.stringify(verdict) };
  return {
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
}

/** One choice after the other, all of them made by a text. */
function pickBy(text: string): (count: number) => number {
  let made = 0;
  return (count) => hashOf(`${made++} ${text}`) % count;
}

/** FNV-1a with a finish that reaches the low bits. */
function hashOf(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_519);
  return (hash ^ (hash >>> 13)) >>> 0;
}
