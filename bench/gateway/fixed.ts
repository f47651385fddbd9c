/** What every client of the bench asks, and what the engine answers. */
export const MODEL = "bench";
export const FIRST_TOKEN_MS = 30;
export const TOKEN_EVERY_MS = 10;
export const TOKENS = 40;
/** Streams that are asked for with `slow`: long enough that thousands of them run at the same time. */
export const SLOW_TOKEN_EVERY_MS = 500;
export const SLOW_TOKENS = 30;

const messages = [
  { role: "system", content: "You are a helpful assistant." },
  { role: "user", content: "Write a haiku about rain on a tin roof, and say nothing else." },
];
export const ASK = JSON.stringify({ model: MODEL, messages, max_tokens: 64, temperature: 0.7 });
export const ASK_STREAM = JSON.stringify({ model: MODEL, messages, max_tokens: 64, stream: true });
export const ASK_SLOW = JSON.stringify({ model: MODEL, messages, stream: true, slow: true });

const usage = { prompt_tokens: 31, completion_tokens: 40, total_tokens: 71 };
const content = "Rain on a tin roof\na thousand small drums at night\nthe house holds its breath";
export const ANSWER = JSON.stringify({
  id: "chatcmpl-fixed",
  object: "chat.completion",
  created: 1_700_000_000,
  model: MODEL,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content, refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage,
  system_fingerprint: null,
});

const chunk = (delta: object, finish: string | null) => {
  const head = {
    id: "chatcmpl-fixed",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: MODEL,
  };
  return `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
};
export const CHUNK = chunk({ role: "assistant", content: " rain" }, null);
export const LAST_CHUNKS = `${chunk({}, "stop")}data: [DONE]\n\n`;
