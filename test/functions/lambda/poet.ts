import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { jsonReply, type Script } from "../../fakes/engine/engine.ts";
import type { Deployment } from "../../fakes/lambda-runtime/deploy.ts";

const ANSWER_MS = 300;

/** A replica that answers after a while with the number of its question. */
export const poet: Script = ({ path, body }) => {
  if (path === "/v1/models") return jsonReply(JSON.stringify({ object: "list", data: [{ id: "poet" }] }));
  const [message] = body["messages"] as { content: string }[];
  const content = `answer to ${message?.content}`;
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const head = { id: "c", created: 1, model: "poet" };
  if (body["stream"] !== true) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    const text = JSON.stringify({ ...head, object: "chat.completion", choices, usage });
    return { type: "application/json", steps: [{ until: delay(ANSWER_MS) }, text] };
  }
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
  const words = content.split(/(?<= )/).map((word) => chunk({ content: word }));
  const last = `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage })}\n\n`;
  return {
    steps: [
      { until: delay(ANSWER_MS) },
      ...words,
      chunk({}, { finish_reason: "stop" }),
      last,
      "data: [DONE]\n\n",
    ],
  };
};

/** Asks the endpoint `poet`, by a stream where the number is even; resolves to what it said. */
export async function askPoet(stack: Deployment, number: number): Promise<string> {
  const stream = number % 2 === 0;
  const messages = [{ role: "user", content: String(number) }];
  const answer = await stack.call("chat", "POST", "/v1/chat/completions", {
    model: "poet",
    messages,
    stream,
  });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, expect.any(String)]);
  if (!stream)
    return (JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
  expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  return [...text.matchAll(/"delta":\{"content":"([^"]*)"/g)].map(([, word]) => word).join("");
}
