import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import { CREATED_MS, readEvents, say, serveScript, tinyText } from "./harness.ts";

const hello = { model: "haiku", messages: [{ role: "user", content: "Hi" }] };

describe("a request that is wrong", () => {
  const long = "x".repeat(300);
  it.each<[string, unknown, string | null, string | null]>([
    ["not JSON", "{", null, null],
    ["not an object", "[]", null, null],
    ["no model", { messages: hello.messages }, "missing_required_parameter", "model"],
    ["no messages", { model: "haiku" }, "missing_required_parameter", "messages"],
    [
      "a wrong type",
      { ...hello, messages: [{ role: "user", content: 3 }] },
      "invalid_type",
      "messages[0].content",
    ],
    ["a role that is none", { ...hello, messages: [{ role: "x" }] }, "invalid_value", "messages[0].role"],
    ["no message", { ...hello, messages: [] }, "empty_array", "messages"],
    ["too hot", { ...hello, temperature: 2.5 }, "decimal_above_max_value", "temperature"],
    ["no tokens", { ...hello, max_tokens: 0 }, "integer_below_min_value", "max_tokens"],
    ["too many stops", { ...hello, stop: ["a", "b", "c", "d", "e"] }, "array_above_max_length", "stop"],
    [
      "two limits",
      { ...hello, max_tokens: 1, max_completion_tokens: 2 },
      "invalid_parameter_combination",
      "max_tokens",
    ],
    ["options of no stream", { ...hello, stream_options: {} }, null, "stream_options"],
    ["alternatives alone", { ...hello, top_logprobs: 2 }, null, "top_logprobs"],
    [
      "a long prompt",
      { ...hello, messages: [{ role: "user", content: long }] },
      "context_length_exceeded",
      "messages",
    ],
    ["a long answer", { ...hello, max_tokens: 255 }, "context_length_exceeded", "messages"],
    [
      "an image",
      { ...hello, messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "invalid_value",
      "messages[0].content[0].type",
    ],
    ["E19 a choice without tools", { ...hello, tool_choice: "required" }, null, "tool_choice"],
    [
      "E10 a format that is none",
      { ...hello, response_format: { type: "xml" } },
      "invalid_value",
      "response_format.type",
    ],
    ["a format that is text", { ...hello, response_format: "json" }, "invalid_type", "response_format"],
    ["a tool that is text", { ...hello, tools: ["search"] }, "invalid_type", "tools[0]"],
    [
      "a tool without a name",
      { ...hello, tools: [{ type: "function", function: {} }] },
      "missing_required_parameter",
      "tools[0].function.name",
    ],
    [
      "a tool of another type",
      { ...hello, tools: [{ type: "web_search" }] },
      "invalid_value",
      "tools[0].type",
    ],
    ["E11 a penalty", { ...hello, presence_penalty: 3 }, "decimal_above_max_value", "presence_penalty"],
    ["E11 a bonus", { ...hello, frequency_penalty: -2.5 }, "decimal_below_min_value", "frequency_penalty"],
    [
      "E11 no repetition",
      { ...hello, repetition_penalty: 0 },
      "decimal_below_min_value",
      "repetition_penalty",
    ],
    ["E11 a share above 1", { ...hello, min_p: 1.5 }, "decimal_above_max_value", "min_p"],
    [
      "E11 many alternatives",
      { ...hello, logprobs: true, top_logprobs: 21 },
      "integer_above_max_value",
      "top_logprobs",
    ],
    ["E11 many answers", { ...hello, n: 129 }, "integer_above_max_value", "n"],
    ["E11 a strong bias", { ...hello, logit_bias: { 5: 101 } }, "decimal_above_max_value", "logit_bias.5"],
    ["E9 a bias that is text", { ...hello, logit_bias: { 5: "1" } }, "invalid_type", "logit_bias.5"],
    ["E9 a bias of a word", { ...hello, logit_bias: { the: 1 } }, "invalid_value", "logit_bias.the"],
    ["E10 a bias of no token", { ...hello, logit_bias: { 263: 1 } }, "invalid_value", "logit_bias.263"],
    ["E9 a seed that is text", { ...hello, seed: "7" }, "invalid_type", "seed"],
    ["E9 half a token", { ...hello, max_completion_tokens: 1.5 }, "invalid_type", "max_completion_tokens"],
  ])("is told so, streaming or not: %s", async (_, body, code, param) => {
    const harness = serveScript(say("x"));
    const bodies =
      typeof body === "string" ? [body] : [body, { ...(body as object), stream: !param?.includes("stream") }];
    for (const each of bodies) {
      const response = await harness.post("/v1/chat/completions", each);
      expect(response.status).toBe(400);
      expect(response.headers.get("content-type")).toContain("application/json");
      const error = { type: "invalid_request_error", code, param, message: expect.any(String) as string };
      expect(await response.json()).toEqual({ error });
    }
    expect(harness.engine.requests).toEqual([]);
  });

  it("is told what is wrong in words", async () => {
    const { post } = serveScript(say("x"));
    const message = async (extra: object): Promise<string> => {
      const response = await post("/v1/chat/completions", { ...hello, ...extra });
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await message({ temperature: 3 })).toBe("Invalid 'temperature': must be at most 2.");
    expect(await message({ n: "1" })).toBe("Invalid 'n': expected number.");
    expect(await message({ messages: undefined })).toBe("Missing required parameter: 'messages'.");
    expect(await message({ stop: 3 })).toBe("Invalid 'stop': not one of the types allowed here.");
  });

  it("is refused before it is encoded where it cannot fit", async () => {
    const text = tinyText();
    const encode = () => {
      throw new Error("encoded");
    };
    Object.assign(text.tokenizer, { encode, encodeDocument: encode });
    const { post } = serveScript(say("x"), { text });
    const huge = "y".repeat(1_000_000);
    for (const [path, fields, param] of [
      ["/v1/chat/completions", { messages: [{ role: "user", content: huge }] }, "messages"],
      ["/v1/completions", { prompt: huge }, "prompt"],
    ] as const) {
      const response = await post(path, { model: "haiku", ...fields });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded", param } });
    }
    const tooLarge = await post("/v1/completions", { model: "haiku", prompt: "y".repeat(8 * 1024 * 1024) });
    expect(tooLarge.status).toBe(413);
  });

  it("is told what the chat template objects to", async () => {
    const chatTemplate = new ChatTemplate("{{ raise_exception('No system here') }}");
    const { post } = serveScript(say("x"), { text: { ...tinyText(), chatTemplate } });
    const response = await post("/v1/chat/completions", hello);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "chat_template_failed", message: expect.stringContaining("No system here") as string },
    });
  });

  it("is told when the model has no chat template", async () => {
    const { post } = serveScript(say("x"), { text: { ...tinyText(), chatTemplate: undefined } });
    expect((await post("/v1/chat/completions", hello)).status).toBe(400);
  });

  it("hides what went wrong inside", async () => {
    const harness = serveScript(() => Promise.reject(new TypeError("secret path")));
    const response = await harness.post("/v1/chat/completions", hello);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
    expect(harness.errors).toMatchObject([{ message: "secret path" }]);
  });
});

describe("other routes", () => {
  it("lists models, and finds one by a name with slashes", async () => {
    const harness = serveScript(say("x"), { models: ["spotter/nano"] });
    const model = { id: "spotter/nano", object: "model", created: CREATED_MS / 1000, owned_by: "spotter" };
    expect(await (await harness.app.request("/v1/models")).json()).toEqual({ object: "list", data: [model] });
    expect(await (await harness.app.request("/v1/models/spotter/nano")).json()).toEqual(model);
    expect(await (await harness.app.request("/v1/models/spotter%2Fnano")).json()).toEqual(model);
    for (const id of ["%", "%ed%a0%80"])
      expect((await harness.app.request(`/v1/models/${id}`)).status).toBe(400);
    expect((await harness.app.request("/v1/models/other")).status).toBe(404);
  });

  it("completes bare text and token ids", async () => {
    const harness = serveScript(say("<think>ok"));
    for (const prompt of ["Hi", harness.text.tokenizer.encode("Hi")]) {
      const response = await harness.post("/v1/completions", { model: "haiku", prompt });
      expect(await response.json()).toMatchObject({
        object: "text_completion",
        choices: [{ index: 0, text: "<think>ok", finish_reason: "stop", logprobs: null }],
        usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
      });
    }
    const streamed = await harness.post("/v1/completions", { model: "haiku", prompt: "Hi", stream: true });
    const { events, tail } = readEvents(await streamed.text());
    expect(events.map(({ choices }) => (choices as { text: string }[])[0]?.text).join("")).toBe("<think>ok");
    expect(tail).toBe("data: [DONE]\n\n");
    expect(harness.engine.requests[0]).toMatchObject({ maxNewTokens: 16 });
  });

  it("names the prompt where a completion's is too long", async () => {
    const { post } = serveScript(say("x"));
    const response = await post("/v1/completions", { model: "haiku", prompt: "y".repeat(300) });
    expect(await response.json()).toMatchObject({
      error: { code: "context_length_exceeded", param: "prompt" },
    });
  });

  it("takes a temperature next to 0 as 0", async () => {
    const { post, engine } = serveScript(say("x"));
    for (const temperature of [1e-38, 9e-4, 1e-3])
      await post("/v1/chat/completions", { ...hello, temperature });
    expect(engine.requests.map((request) => request.temperature)).toEqual([0, 0, 1e-3]);
  });

  it("answers unknown URLs, wrong verbs and trailing slashes as OpenAI does", async () => {
    const { app, post } = serveScript(say("x"));
    const unknown = await app.request("/v1/embeddings", { method: "POST" });
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: "unknown_url" } }]);
    const verb = await app.request("/v1/chat/completions");
    expect([verb.status, verb.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await post("/v1/chat/completions/", hello)).status).toBe(200);
    expect((await app.request("/health")).status).toBe(200);
  });

  it("echoes a request id, or makes one", async () => {
    const { app } = serveScript(say("x"));
    const mine = await app.request("/health", { headers: { "x-request-id": "mine-1.a" } });
    expect(mine.headers.get("x-request-id")).toBe("mine-1.a");
    const made = await app.request("/health", { headers: { "x-request-id": "not ok" } });
    expect(made.headers.get("x-request-id")).toMatch(/^id\d+$/);
  });
});
