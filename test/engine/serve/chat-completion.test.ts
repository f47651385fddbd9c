import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { CREATED_MS, readEvents, say, serveScript, tinyText, type Harness } from "./harness.ts";

const hello = { model: "haiku", messages: [{ role: "user", content: "Hi" }] };
const chat = (harness: Harness, extra: object = {}): Promise<Response> =>
  harness.post("/v1/chat/completions", { ...hello, ...extra });

async function chatJson(harness: Harness, extra: object = {}): Promise<unknown> {
  const response = await chat(harness, extra);
  expect(response.status).toBe(200);
  return response.json();
}

describe("a chat completion", () => {
  it("has the shape clients read", async () => {
    const harness = serveScript(say("Hello"));
    expect(await chatJson(harness)).toEqual({
      id: expect.stringMatching(/^chatcmpl-/) as string,
      object: "chat.completion",
      created: CREATED_MS / 1000,
      model: "haiku",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Hello", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 6,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
  });

  it("asks the engine with the defaults: temperature 1, the room left in the context", async () => {
    const harness = serveScript(say("x"));
    await chatJson(harness, { temperature: null, max_tokens: null, stop: null });
    const promptIds = harness.text.tokenizer.encode("<|user|>Hi<|end|><|assistant|>");
    expect(harness.engine.requests).toEqual([
      {
        promptIds,
        maxNewTokens: 256 - promptIds.length,
        temperature: 1,
        topP: 1,
        topK: 0,
        seed: 42,
        stopIds: [0],
      },
    ]);
  });

  it("passes sampling on, with a seed of its own for each choice", async () => {
    const harness = serveScript(say("x", "length"));
    const extra = { temperature: 0, top_p: 0.5, top_k: -1, seed: 7, n: 3, max_completion_tokens: 9 };
    const answer = (await chatJson(harness, extra)) as { choices: unknown[]; usage: object };
    const seeds = harness.engine.requests.map(({ seed }) => seed);
    expect(seeds[0]).toBe(7);
    expect(new Set([7, 8, 9, ...seeds]).size).toBe(5);
    await chatJson(harness, extra);
    expect(harness.engine.requests.slice(3).map(({ seed }) => seed)).toEqual(seeds);
    expect(harness.engine.requests[0]).toMatchObject({ temperature: 0, topP: 0.5, topK: 0, maxNewTokens: 9 });
    expect(answer.choices).toHaveLength(3);
    expect(answer.choices[2]).toMatchObject({ index: 2, finish_reason: "length" });
    expect(answer.usage).toMatchObject({ completion_tokens: 3 });
  });

  it("passes bias, penalties and min-p on, and leaves out what changes nothing", async () => {
    const harness = serveScript(say("x"));
    await chatJson(harness, {
      logit_bias: { 65: -100, 7: 2.5 },
      presence_penalty: 0.5,
      frequency_penalty: -2,
      repetition_penalty: 1.1,
      min_p: 0.1,
      top_p: 0,
    });
    const neutral = { presence_penalty: 0, frequency_penalty: null, repetition_penalty: 1, min_p: 0 };
    await chatJson(harness, { ...neutral, logit_bias: {}, top_p: null });
    const [asked, plain] = harness.engine.requests;
    expect(asked).toMatchObject({
      logitBias: [
        [7, 2.5],
        [65, -100],
      ],
      presencePenalty: 0.5,
      frequencyPenalty: -2,
      repetitionPenalty: 1.1,
      minP: 0.1,
      topP: Number.MIN_VALUE,
    });
    expect(Object.keys(plain ?? {}).sort()).toEqual(
      ["maxNewTokens", "promptIds", "seed", "stopIds", "temperature", "topK", "topP"].sort(),
    );
  });

  it("ends where vLLM's fields say", async () => {
    const harness = serveScript(say("x"));
    await chatJson(harness, { min_tokens: 3, stop_token_ids: [72, 73] });
    await chatJson(harness, { ignore_eos: true, min_tokens: 0 });
    expect(harness.engine.requests[0]).toMatchObject({ minNewTokens: 3, stopIds: [0, 72, 73] });
    expect(harness.engine.requests[1]?.stopIds).toEqual([]);
    expect(harness.engine.requests[1]).not.toHaveProperty("minNewTokens");
    expect((await chat(harness, { stop_token_ids: [263] })).status).toBe(400);
  });

  it("reports log-probabilities with exact bytes", async () => {
    const harness = serveScript(say("é"));
    const answer = await chatJson(harness, { logprobs: true, top_logprobs: 1 });
    const half = (byte: number): object => ({
      token: "\ufffd",
      logprob: -0.5,
      bytes: [byte],
      top_logprobs: [{ token: "\ufffd", logprob: -0.5, bytes: [byte] }],
    });
    expect(answer).toMatchObject({
      choices: [{ message: { content: "é" }, logprobs: { content: [half(0xc3), half(0xa9)] } }],
    });
    expect(harness.engine.requests[0]).toMatchObject({ topLogprobs: 1, modelLogprobs: true });
  });

  it("cuts at a stop string and stops the engine there", async () => {
    const harness = serveScript(async (_request, emit, signal) => {
      for (const id of tinyText().tokenizer.encode("one\n\ntwo")) if (!signal.aborted) emit(id);
      return new Promise(() => undefined);
    });
    const answer = await chatJson(harness, { stop: ["\n\n"] });
    expect(answer).toMatchObject({
      choices: [{ message: { content: "one" }, finish_reason: "stop" }],
      usage: { completion_tokens: 5 },
    });
    expect(harness.engine.aborted).toBe(1);
  });

  it("takes reasoning and tool calls apart", async () => {
    const call = '<think>Hm</think>Sure.<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>';
    const harness = serveScript(say(call));
    const tools = [{ type: "function", function: { name: "add" } }];
    expect(await chatJson(harness, { tools })).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            content: "Sure.",
            reasoning_content: "Hm",
            tool_calls: [
              {
                id: expect.stringMatching(/^call_/) as string,
                type: "function",
                function: { name: "add", arguments: '{"a": 1}' },
              },
            ],
          },
        },
      ],
    });
    expect(await chatJson(harness, { tools, tool_choice: "none" })).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: call.slice(call.indexOf("Sure")) } }],
    });
  });

  it("has null content beside a bare tool call", async () => {
    const harness = serveScript(say('<tool_call>{"name": "f"}</tool_call>'));
    const tool = { type: "function", function: { name: "find" } };
    const answer = (await chatJson(harness, { tools: [tool] })) as { choices: { message: object }[] };
    expect(answer.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [{ function: { name: "f" } }],
    });
  });

  it("gives the template its variables, and knows when the prompt opens the reasoning", async () => {
    const harness = serveScript(say("Hm</think>Yes"));
    const answer = await chatJson(harness, { chat_template_kwargs: { enable_thinking: true } });
    expect(harness.engine.requests[0]?.promptIds.at(-1)).toBe(harness.text.tokenizer.idOf("<think>"));
    expect(answer).toMatchObject({ choices: [{ message: { content: "Yes", reasoning_content: "Hm" } }] });
  });

  it("joins text parts and says developer as system", async () => {
    const harness = serveScript(say("x"));
    const content = [
      { type: "text", text: "H" },
      { type: "text", text: "i" },
    ];
    await chatJson(harness, { messages: [{ role: "developer", content }] });
    expect(harness.text.tokenizer.decode(harness.engine.requests[0]?.promptIds ?? [])).toBe("Hi");
  });
});

describe("a stream", () => {
  it("has a role, deltas, one finish chunk for each choice, and [DONE]", async () => {
    const harness = serveScript(say("Hé"));
    const response = await chat(harness, { stream: true, n: 2 });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    const { events, tail } = readEvents(await response.text());
    expect(tail).toBe("data: [DONE]\n\n");
    expect(
      new Set(
        events.map(
          ({ id, object, created, model }) =>
            `${String(id)} ${String(object)} ${String(created)} ${String(model)}`,
        ),
      ).size,
    ).toBe(1);
    for (const index of [0, 1]) {
      const mine = events
        .flatMap(({ choices }) => choices as { index: number }[])
        .filter((c) => c.index === index);
      expect(mine).toEqual([
        { index, delta: { role: "assistant", content: "" }, finish_reason: null },
        { index, delta: { content: "H" }, finish_reason: null },
        { index, delta: { content: "é" }, finish_reason: null },
        { index, delta: {}, finish_reason: "stop" },
      ]);
    }
    expect(events.every((event) => !("usage" in event))).toBe(true);
  });

  it("ends with the usage where it is asked for", async () => {
    const harness = serveScript(say("Hi"));
    const response = await chat(harness, { stream: true, stream_options: { include_usage: true } });
    const { events } = readEvents(await response.text());
    expect(events.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    });
  });

  it("carries each token's log-probability once", async () => {
    const harness = serveScript(say("Hé!"));
    const { events } = readEvents(await (await chat(harness, { stream: true, logprobs: true })).text());
    const bytes = events.flatMap(({ choices }) =>
      (choices as { logprobs?: { content: { bytes: number[] }[] } }[]).flatMap(
        ({ logprobs }) => logprobs?.content.flatMap((entry) => entry.bytes) ?? [],
      ),
    );
    expect(bytes).toEqual([...new TextEncoder().encode("Hé!")]);
  });

  it("ends an answer without tokens properly", async () => {
    const harness = serveScript(say(""));
    const { events, tail } = readEvents(await (await chat(harness, { stream: true })).text());
    expect(events.map(({ choices }) => (choices as object[])[0])).toMatchObject([
      { delta: { role: "assistant" }, finish_reason: null },
      { delta: {}, finish_reason: "stop" },
    ]);
    expect(tail).toBe("data: [DONE]\n\n");
  });

  it("ends with an error event and no [DONE] when the engine fails", async () => {
    const harness = serveScript((_request, emit) => {
      emit(10);
      return Promise.reject(new SpotterError("engine_failed", "The engine's worker ended."));
    });
    const body = await (await chat(harness, { stream: true })).text();
    expect(body).not.toContain("[DONE]");
    expect(readEvents(body).events.at(-1)).toEqual({
      error: {
        message: "The engine's worker ended.",
        type: "server_error",
        param: null,
        code: "engine_failed",
      },
    });
    expect(harness.errors).toHaveLength(1);
  });

  it("stops the engine when the client goes away", async () => {
    const harness = serveScript((_request, emit) => {
      emit(10);
      return new Promise(() => undefined);
    });
    const response = await chat(harness, { stream: true, n: 3 });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    expect(harness.engine.aborted).toBe(0);
    await reader?.cancel();
    expect(harness.engine.aborted).toBe(3);
  });
});
