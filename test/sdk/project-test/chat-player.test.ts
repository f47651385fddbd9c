import { describe, expect, it } from "vitest";
import { chatPlayer } from "../../../sdk/config/project-folder/play/chat-player.ts";
import { openAiAsk } from "../../../sdk/config/project-folder/play/openai-ask.ts";
import type { Turn } from "../../../sdk/config/project-folder/play/player.ts";
import type { ChatCompletion } from "../../../sdk/schema/chat.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { fakeServer, freePort, send } from "../fake-server.ts";
import { says } from "./gym.ts";

const TOOL = { type: "function", function: { name: "add", description: "", parameters: {} } } as const;

const turn = (more: Partial<Turn> = {}): Turn => ({
  entry: { index: 0, row: { prompt: [], row: {} } },
  messages: [{ role: "user", content: "Go." }],
  tools: [],
  number: 1,
  maxTurns: 1,
  maxTokens: 100,
  seed: 3,
  signal: new AbortController().signal,
  ...more,
});

/** A model whose server answers with these, one after another; an error is thrown. */
function scripted(answers: (object | SpotterError)[]) {
  const bodies: Record<string, unknown>[] = [];
  const player = chatPlayer({
    name: "a model",
    fields: { model: "m" },
    async ask(body) {
      bodies.push(body);
      const answer = answers.shift();
      if (answer instanceof SpotterError) throw answer;
      return answer as ChatCompletion;
    },
  });
  return { player, bodies };
}

describe("a model that chats", () => {
  it("takes a message apart: text, thinking, calls with their arguments", async () => {
    const calls = [
      { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } },
      { id: "c2", type: "function", function: { name: "add", arguments: "{a:" } },
    ];
    const { player, bodies } = scripted([
      says("", { reasoning_content: "hm", tool_calls: calls }, "tool_calls"),
    ]);
    expect(await player.answer(turn({ tools: [TOOL] }))).toEqual({
      response: {
        content: "",
        reasoning: "hm",
        toolCalls: [
          { id: "c1", name: "add", arguments: { a: 1 } },
          { id: "c2", name: "add", arguments: "{a:" },
        ],
      },
      finishReason: "stop",
      promptTokens: 10,
      completionTokens: 5,
    });
    expect(bodies).toEqual([
      { model: "m", messages: [{ role: "user", content: "Go." }], tools: [TOOL], seed: 3, max_tokens: 100 },
    ]);
  });

  it("finds thinking and calls in the text of servers that leave them there", async () => {
    const text = '<think>hm</think>\nSo:\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>';
    const { player } = scripted([says(text), says(text, {}, "length")]);
    const withTools = await player.answer(turn({ tools: [TOOL] }));
    expect(withTools.response).toMatchObject({
      reasoning: "hm",
      toolCalls: [{ name: "add", arguments: { a: 1 } }],
    });
    const without = await player.answer(turn());
    expect([without.response.toolCalls, without.finishReason]).toEqual([[], "length"]);
  });

  it("lets the server choose the length where the project's window is larger than the model's", async () => {
    const tooLong = new SpotterError("context_length_exceeded", "It has 1024.");
    const { player, bodies } = scripted([tooLong, says("x"), tooLong, tooLong]);
    expect((await player.answer(turn())).response.content).toBe("x");
    expect(bodies.map((body) => body.max_tokens)).toEqual([100, undefined]);
    await expect(player.answer(turn())).rejects.toBe(tooLong);
  });

  it("says so where an answer has no message", async () => {
    const { player } = scripted([{ choices: [] }]);
    await expect(player.answer(turn())).rejects.toMatchObject({ code: "engine_failed" });
  });
});

describe("a server that speaks OpenAI's API", () => {
  const signal = new AbortController().signal;

  it("is asked again when it is busy, and not when the request is wrong", async () => {
    let tries = 0;
    const server = await fakeServer({
      "POST /v1/chat/completions": (_, response) => {
        if (++tries === 1) send(response, 429, { error: { message: "slow down" } }, { "retry-after": "0" });
        else return says("x");
      },
      "POST /bad/chat/completions": (_, response) =>
        send(response, 400, { error: { message: "no such field", code: "unknown" } }),
    });
    expect(await openAiAsk({ baseUrl: `${server.url}/v1` })({}, signal)).toMatchObject(says("x"));
    await expect(openAiAsk({ baseUrl: `${server.url}/bad` })({}, signal)).rejects.toMatchObject({
      code: "invalid_input",
      message: `${server.url}/bad/chat/completions answers 400: no such field`,
    });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    [401, { error: { message: "bad key" } }, "unauthorized"],
    [404, { error: { message: "no model" } }, "model_not_found"],
    [400, { error: { message: "This model's maximum context length is 10." } }, "context_length_exceeded"],
    [400, { error: { message: "too long", code: "context_length_exceeded" } }, "context_length_exceeded"],
    [200, "<html>", "engine_failed"],
  ])("tells what %i %j means", async (status, body, code) => {
    const server = await fakeServer({
      "*": (_, response) =>
        void response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body)),
    });
    await expect(openAiAsk({ baseUrl: server.url })({}, signal)).rejects.toMatchObject({ code });
  });

  it("is told to be absent where nothing listens", async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const aborting = AbortSignal.timeout(5_000);
    const asked = openAiAsk({ baseUrl, retryDelayMs: 1 })({}, aborting);
    await expect(asked).rejects.toMatchObject({ code: "endpoint_not_ready" });
  });
});
