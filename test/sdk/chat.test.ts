import { describe, expect, it } from "vitest";
import { chat, streamChat, type ChatStreamDelta } from "../../sdk/chat.ts";
import { fakeServer, send, sendError } from "./fake-server.ts";

const PATH = "POST /v1/chat/completions";
const messages = [{ role: "user", content: "Hi" }] as const;
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

function completion(message: object, finish_reason = "stop") {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason, logprobs: null }];
  return { id: "c1", object: "chat.completion", created: 1, model: "nano", choices, usage };
}

function chunk(delta: object, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: null, ...more }];
  return `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "nano", choices })}\n\n`;
}

async function collect(deltas: AsyncIterable<ChatStreamDelta>): Promise<ChatStreamDelta[]> {
  const all: ChatStreamDelta[] = [];
  for await (const delta of deltas) all.push(delta);
  return all;
}

describe("chat", () => {
  it("returns text, reasoning, tool calls, usage and finish reason", async () => {
    const toolCall = { id: "t1", type: "function", function: { name: "add", arguments: "{}" } };
    const message = { content: null, reasoning_content: "hm", tool_calls: [toolCall] };
    const { client } = await fakeServer({ [PATH]: () => completion(message, "tool_calls") });
    expect(await chat(client, "nano", messages)).toMatchObject({
      content: "",
      reasoningContent: "hm",
      toolCalls: [toolCall],
      message: { role: "assistant", content: null },
      finishReason: "tool_calls",
      usage,
      logprobs: undefined,
    });
  });

  it("passes unknown options on and keeps its own to itself", async () => {
    const { client, requests } = await fakeServer({ [PATH]: () => completion({ content: "Hello" }) });
    const options = { max_tokens: 4, chat_template_kwargs: { enable_thinking: false }, guided_regex: "x" };
    await chat(client, "nano", messages, {
      ...options,
      timeoutMs: 5_000,
      maxAttempts: 1,
      signal: AbortSignal.timeout(5_000),
    });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ ...options, model: "nano", messages });
  });

  it.each([
    [{ maxTokens: 5 }, "unknown_key", 'maxTokens: unknown key; did you mean "max_tokens"?'],
    [{ temprature: 1 }, "unknown_key", 'temprature: unknown key; did you mean "temperature"?'],
    [{ max_tokens: 0 }, "invalid_input", "max_tokens: must be a whole number above 0, is 0"],
    [
      { max_tokens: NaN, temprature: 1 },
      "invalid_input",
      "max_tokens: must be a whole number above 0, is NaN",
    ],
    [{ temperature: "1" }, "invalid_input", 'temperature: must be a finite number, is "1"'],
    [{ signal: {} }, "invalid_input", "signal: must be an AbortSignal"],
    [{ timeoutMs: 0 }, "invalid_input", "timeoutMs: must be a number above 0"],
    [null, "invalid_input", "options: is null, expected an object"],
  ])("refuses the options %j", async (options, code, message) => {
    const { client, requests } = await fakeServer();
    const wanted = { code, message: expect.stringContaining(message) as string };
    await expect(chat(client, "nano", messages, options as never)).rejects.toMatchObject(wanted);
    await expect(collect(streamChat(client, "nano", messages, options as never))).rejects.toMatchObject(
      wanted,
    );
    expect(requests).toEqual([]);
  });

  it("refuses what are no messages", async () => {
    const { client } = await fakeServer();
    for (const wrong of [null, "Hi", { role: "user" }])
      await expect(chat(client, "nano", wrong as never)).rejects.toMatchObject({
        code: "invalid_input",
        where: "messages",
      });
    await expect(chat(client, "nano", [{ role: "user", content: 1n }] as never)).rejects.toMatchObject({
      code: "invalid_input",
      where: "messages.0.content",
    });
  });

  it("leaves the engine's own options to the engine", async () => {
    const { client, requests } = await fakeServer({ [PATH]: () => completion({ content: "Hello" }) });
    const options = { top_a: 0.1, min_p: 0.1, n: 1, user: "u", store: false, max_tokens: null };
    await chat(client, "nano", messages, options as never);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({ ...options, model: "nano", messages });
  });

  it("asks again when the answer breaks off", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        if (++tries > 1) return completion({ content: "Hello" });
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"choices":');
        setTimeout(() => response.destroy(), 5);
      },
    });
    expect((await chat(client, "nano", messages)).content).toBe("Hello");
  });

  it("waits as Retry-After says and asks again", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        if (++tries > 1) return completion({ content: "Hello" });
        const error = { message: "Full.", type: "x", param: null, code: "queue_full" };
        send(response, 429, { error }, { "retry-after": "0.02" });
      },
    });
    expect((await chat(client, "nano", messages)).content).toBe("Hello");
    expect(tries).toBe(2);
  });
});

describe("streamChat", () => {
  it("yields what is new in each piece, then the finish reason and the usage", async () => {
    const { client, requests } = await fakeServer({
      [PATH]: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(
          ": hold\n\n" + chunk({ role: "assistant", content: "" }) + chunk({ reasoning_content: "hm" }),
        );
        response.write(chunk({ content: "Hel" }) + chunk({ content: "lo" }, { finish_reason: "stop" }));
        response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
      },
    });
    expect(await collect(streamChat(client, "nano", messages, { max_tokens: 9 }))).toEqual([
      { role: "assistant" },
      { reasoningContent: "hm" },
      { content: "Hel" },
      { content: "lo", finishReason: "stop" },
      { usage },
    ]);
    expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 9,
    });
  });

  it("aborts the request when the loop is left", async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        closed = new Promise((resolve) => response.on("close", resolve));
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ content: "a" }));
      },
    });
    for await (const delta of streamChat(client, "nano", messages)) {
      expect(delta.content).toBe("a");
      break;
    }
    await closed;
  });

  it("throws the caller's reason when the signal aborts in between", async () => {
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ content: "a" }));
      },
    });
    const controller = new AbortController();
    const read = async () => {
      for await (const _ of streamChat(client, "nano", messages, { signal: controller.signal })) {
        controller.abort(new Error("enough"));
      }
    };
    await expect(read()).rejects.toThrow("enough");
  });

  it("throws the error that a stream carries", async () => {
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(
          chunk({ content: "a" }) + 'data: {"error":{"message":"It broke.","code":"engine_failed"}}\n\n',
        );
      },
    });
    await expect(collect(streamChat(client, "nano", messages))).rejects.toMatchObject({
      code: "engine_failed",
      message: "It broke.",
    });
  });

  it("does not take a stream that breaks off for an answer", async () => {
    const { client } = await fakeServer({
      [PATH]: (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(chunk({ content: "a" }));
      },
    });
    await expect(collect(streamChat(client, "nano", messages))).rejects.toMatchObject({
      code: "daemon_unreachable",
      retryable: true,
    });
  });

  it("throws coded errors that come instead of a stream", async () => {
    const { client } = await fakeServer({
      [PATH]: (_, response) => sendError(response, 404, "not_found", "No endpoint nano."),
    });
    await expect(collect(streamChat(client, "nano", messages))).rejects.toMatchObject({ code: "not_found" });
  });
});
