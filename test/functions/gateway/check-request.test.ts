import { describe, expect, it } from "vitest";
import { checkRequest, type RequestKind } from "../../../functions/gateway/check-request.ts";
import { openAiErrorBody } from "../../../functions/gateway/openai-errors.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";

const HI = [{ role: "user", content: "hi" }];
const bytes = (body: unknown) => Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
const chat = (more: object = {}) => ({ model: "m", messages: HI, ...more });
const called = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const reply = (id: string) => ({ role: "tool", tool_call_id: id, content: "1" });
const tool = (name: unknown, more: object = {}) => ({ type: "function", function: { name, ...more } });

/** What the body is refused with; undefined if it is taken. */
function refusal(body: unknown, kind: RequestKind = "chat") {
  try {
    checkRequest(kind, Buffer.isBuffer(body) ? body : bytes(body));
    return undefined;
  } catch (thrown) {
    const error = SpotterError.from(thrown);
    const { code, param, type, message } = openAiErrorBody(error).error;
    expect(message.length).toBeGreaterThan(10);
    return { status: error.status, type, code, param };
  }
}

const bad = (code: string | null, param: string | null) => ({
  ...{ status: 400, type: "invalid_request_error" },
  ...{ code, param },
});

describe("a body", () => {
  it.each([
    ["nothing", ""],
    ["half of JSON", "{"],
    ["prose", "hello"],
    ["form data", "a=1&b=2"],
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "1"],
    ["not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["nested beyond reason", "[".repeat(200_000)],
  ])("E7 is refused when it is %s", (_name, body) => {
    expect(refusal(body)).toEqual(bad(null, null));
  });

  it.each<[object, string]>([
    [{}, "model"],
    [{ messages: HI }, "model"],
    [{ model: null, messages: HI }, "model"],
    [{ model: "", messages: HI }, "model"],
    [{ model: "m" }, "messages"],
    [{ model: "m", messages: null }, "messages"],
    [chat({ messages: [{ content: "x" }] }), "messages[0].role"],
    [chat({ messages: [...HI, { role: "user" }] }), "messages[1].content"],
    [chat({ messages: [{ role: "user", content: [{ text: "x" }] }] }), "messages[0].content[0].type"],
    [chat({ messages: [{ role: "user", content: [{ type: "text" }] }] }), "messages[0].content[0].text"],
    [chat({ messages: [called("a"), { role: "tool", content: "1" }] }), "messages[1].tool_call_id"],
    [chat({ tools: [{ function: { name: "f" } }] }), "tools[0].type"],
    [chat({ tools: [{ type: "function" }] }), "tools[0].function"],
    [chat({ tools: [tool(undefined)] }), "tools[0].function.name"],
    [chat({ response_format: {} }), "response_format.type"],
    [chat({ response_format: { type: "json_schema" } }), "response_format.json_schema"],
    [
      chat({ response_format: { type: "json_schema", json_schema: { schema: {} } } }),
      "response_format.json_schema.name",
    ],
  ])("E8 is refused when something is missing: %j", (body, param) => {
    expect(refusal(body)).toEqual(bad("missing_required_parameter", param));
  });

  it.each<[object, string]>([
    [chat({ model: 1 }), "model"],
    [chat({ messages: "hi" }), "messages"],
    [chat({ messages: ["hi"] }), "messages[0]"],
    [chat({ messages: [...HI, { role: 1, content: "x" }] }), "messages[1].role"],
    [chat({ messages: [{ role: "user", content: null }] }), "messages[0].content"],
    [chat({ messages: [{ role: "assistant", content: null }] }), "messages[0].content"],
    [chat({ messages: [{ role: "user", content: 5 }] }), "messages[0].content"],
    [chat({ messages: [{ role: "user", content: ["x"] }] }), "messages[0].content[0]"],
    [chat({ stream: "true" }), "stream"],
    [chat({ temperature: "hot" }), "temperature"],
    [chat({ max_tokens: 1.5 }), "max_tokens"],
    [chat({ n: true }), "n"],
    [chat({ seed: 0.5 }), "seed"],
    [chat({ stop: 5 }), "stop"],
    [chat({ stop: ["a", 5] }), "stop[1]"],
    [chat({ logprobs: 5 }), "logprobs"],
    [chat({ logit_bias: [1] }), "logit_bias"],
    [chat({ logit_bias: { 5: "x" } }), "logit_bias.5"],
    [chat({ stream: true, stream_options: true }), "stream_options"],
    [chat({ stream: true, stream_options: { include_usage: 1 } }), "stream_options.include_usage"],
    [chat({ tools: {} }), "tools"],
    [chat({ tools: [tool("f", { parameters: "x" })] }), "tools[0].function.parameters"],
    [chat({ tool_choice: 5 }), "tool_choice"],
    [chat({ parallel_tool_calls: "no" }), "parallel_tool_calls"],
    [chat({ chat_template_kwargs: "x" }), "chat_template_kwargs"],
    [chat({ response_format: "json" }), "response_format"],
    [
      chat({ response_format: { type: "json_schema", json_schema: { name: "x", schema: "y" } } }),
      "response_format.json_schema.schema",
    ],
  ])("E9 is refused when a type is wrong: %j", (body, param) => {
    expect(refusal(body)).toEqual(bad("invalid_type", param));
  });

  it.each<[object, string]>([
    [chat({ messages: [{ role: "robot", content: "x" }] }), "messages[0].role"],
    [chat({ tools: [{ type: "retrieval", function: { name: "f" } }] }), "tools[0].type"],
    [chat({ tools: [tool("get weather")] }), "tools[0].function.name"],
    [chat({ tools: [tool("f".repeat(65))] }), "tools[0].function.name"],
    [chat({ tool_choice: "always" }), "tool_choice"],
    [chat({ response_format: { type: "xml" } }), "response_format.type"],
  ])("E10 is refused when a value is none of those allowed: %j", (body, param) => {
    expect(refusal(body)).toEqual(bad("invalid_value", param));
  });

  it.each<[object, string, string]>([
    [{ temperature: -0.1 }, "temperature", "decimal_below_min_value"],
    [{ temperature: 2.1 }, "temperature", "decimal_above_max_value"],
    [{ top_p: -1 }, "top_p", "decimal_below_min_value"],
    [{ top_p: 1.01 }, "top_p", "decimal_above_max_value"],
    [{ presence_penalty: -2.5 }, "presence_penalty", "decimal_below_min_value"],
    [{ frequency_penalty: 3 }, "frequency_penalty", "decimal_above_max_value"],
    [{ logprobs: true, top_logprobs: 21 }, "top_logprobs", "integer_above_max_value"],
    [{ logprobs: true, top_logprobs: -1 }, "top_logprobs", "integer_below_min_value"],
    [{ n: 0 }, "n", "integer_below_min_value"],
    [{ n: 129 }, "n", "integer_above_max_value"],
    [{ max_tokens: 0 }, "max_tokens", "integer_below_min_value"],
    [{ max_completion_tokens: -1 }, "max_completion_tokens", "integer_below_min_value"],
    [{ logit_bias: { 7: 101 } }, "logit_bias.7", "decimal_above_max_value"],
  ])("E11 is refused when a number is out of range: %j", (more, param, code) => {
    expect(refusal(chat(more))).toEqual(bad(code, param));
  });

  it("E12 is refused with no message, or with more stops than four", () => {
    expect(refusal(chat({ messages: [] }))).toEqual(bad("empty_array", "messages"));
    const stop = ["a", "b", "c", "d", "e"];
    expect(refusal(chat({ stop }))).toEqual(bad("array_above_max_length", "stop"));
    expect(refusal(chat({ stop: stop.slice(1) }))).toBeUndefined();
  });

  it("E13 passes with keys that only engines know, but not with misspelt ones of ours", () => {
    const more = { top_k: 5, min_p: 0.1, repetition_penalty: 1.1, guided_json: {}, anything: [1] };
    expect(refusal(chat({ ...more, chat_template_kwargs: { enable_thinking: false } }))).toBeUndefined();
    expect(refusal(chat(JSON.parse('{"constructor":1,"__proto__":2}') as object))).toBeUndefined();
    expect(refusal(chat({ spotter_priority: 1 }))).toEqual(bad("unknown_parameter", "spotter_priority"));
  });

  it("E15 is refused with stream_options but without stream", () => {
    expect(refusal(chat({ stream_options: { include_usage: true } }))).toEqual(bad(null, "stream_options"));
    expect(refusal(chat({ stream: false, stream_options: {} }))).toEqual(bad(null, "stream_options"));
    expect(refusal(chat({ stream: true, stream_options: {} }))).toBeUndefined();
    expect(refusal(chat({ stream_options: null }))).toBeUndefined();
  });

  it("E16 is refused when its two maxima differ", () => {
    const both = (max_completion_tokens: number | null) =>
      refusal(chat({ max_tokens: 5, max_completion_tokens }));
    expect(both(6)).toEqual(bad("invalid_parameter_combination", "max_tokens"));
    expect(both(5)).toBeUndefined();
    expect(both(null)).toBeUndefined();
  });

  it.each<[unknown[], string]>([
    [[...HI, reply("a")], "messages[1].role"],
    [[reply("a")], "messages[0].role"],
    [[...HI, called("a"), reply("b")], "messages[2].role"],
    [[...HI, called("a")], "messages[1].role"],
    [[...HI, called("a", "b"), reply("a"), ...HI], "messages[1].role"],
    [[...HI, called("a"), reply("a"), ...HI, reply("a")], "messages[4].role"],
  ])("E17 is refused when calls and replies do not match (%#)", (messages, param) => {
    expect(refusal(chat({ messages }))).toEqual(bad(null, param));
  });

  it("E17 passes when every call has its reply, in any order", () => {
    const messages = [...HI, called("a", "b"), reply("b"), reply("a"), called("c"), reply("c"), ...HI];
    expect(refusal(chat({ messages }))).toBeUndefined();
  });

  it("E18 passes with json_object and no word of JSON in its messages", () => {
    expect(refusal(chat({ response_format: { type: "json_object" } }))).toBeUndefined();
  });

  it("E19 is refused when tool_choice has no such tool, or no tools at all", () => {
    const named = { type: "function", function: { name: "g" } };
    const refused = bad(null, "tool_choice");
    expect(refusal(chat({ tools: [tool("f")], tool_choice: named }))).toEqual(refused);
    for (const tool_choice of ["auto", "required", named])
      expect(refusal(chat({ tool_choice }))).toEqual(refused);
    expect(refusal(chat({ tools: [], tool_choice: "required" }))).toEqual(refused);
    for (const tool_choice of ["none", "auto", "required", { type: "function", function: { name: "f" } }])
      expect(refusal(chat({ tools: [tool("f")], tool_choice }))).toBeUndefined();
    expect(refusal(chat({ tools: [], tool_choice: "auto" }))).toBeUndefined();
    expect(refusal(chat({ tool_choice: "none" }))).toBeUndefined();
  });

  it("is refused with top_logprobs but without logprobs", () => {
    expect(refusal(chat({ top_logprobs: 2 }))).toEqual(bad(null, "top_logprobs"));
    expect(refusal(chat({ logprobs: true, top_logprobs: 2 }))).toBeUndefined();
  });

  it("is refused with the fields that tools replaced, by their name", () => {
    expect(refusal(chat({ functions: [{ name: "f" }] }))).toEqual(bad("unsupported_parameter", "functions"));
    expect(refusal(chat({ function_call: "auto" }))).toEqual(bad("unsupported_parameter", "function_call"));
  });

  it("passes with null wherever a field may be absent, and with fields of OpenAI's platform", () => {
    const names = ["temperature", "top_p", "n", "stop", "seed", "max_tokens", "logprobs", "top_logprobs"];
    const more = ["tools", "tool_choice", "response_format", "functions", "logit_bias", "stream", "user"];
    const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]));
    expect(refusal(chat(nulls))).toBeUndefined();
    const platform = { user: "u", metadata: { a: "b" }, store: true, service_tier: "auto", verbosity: "low" };
    const rest = { reasoning_effort: "high", prediction: {}, modalities: ["text"], prompt_cache_key: "k" };
    expect(refusal(chat({ ...platform, ...rest, safety_identifier: "s" }))).toBeUndefined();
  });

  it("passes with what an assistant answered, as it was given", () => {
    const answered = { ...called("a"), refusal: null, reasoning_content: "hm", annotations: [], audio: null };
    expect(refusal(chat({ messages: [...HI, answered, reply("a")] }))).toBeUndefined();
    const thoughtOnly = { role: "assistant", content: null, reasoning_content: "hm" };
    expect(refusal(chat({ messages: [...HI, thoughtOnly, ...HI] }))).toBeUndefined();
  });

  it("tells of the first part that is not text", () => {
    const image = { type: "image_url", image_url: { url: "data:," } };
    const messages = [...HI, { role: "user", content: [{ type: "text", text: "a" }, image] }];
    const { otherPart } = checkRequest("chat", bytes(chat({ messages })));
    expect(otherPart).toEqual({ path: "messages[1].content[1].type", type: "image_url" });
  });
});

describe("a completion's body", () => {
  const ask = (more: object) => refusal({ model: "m", ...more }, "completions");

  it.each<[object]>([
    [{ prompt: "a" }],
    [{ prompt: ["a", "b"] }],
    [{ prompt: [1, 2, 3] }],
    [{ prompt: [[1], [2, 3]] }],
    [{ prompt: "a", logprobs: 5, echo: true, best_of: 2 }],
    [{ prompt: "a", max_tokens: 0, logprobs: 0, echo: true }],
  ])("passes: %j", (more) => {
    expect(ask(more)).toBeUndefined();
  });

  it.each<[object, string, string]>([
    [{}, "missing_required_parameter", "prompt"],
    [{ prompt: 5 }, "invalid_type", "prompt"],
    [{ prompt: [] }, "empty_array", "prompt"],
    [{ prompt: [1, "a"] }, "invalid_type", "prompt[1]"],
    [{ prompt: [1, -1] }, "invalid_type", "prompt[1]"],
    [{ prompt: [[1], []] }, "empty_array", "prompt[1]"],
    [{ prompt: "a", logprobs: true }, "invalid_type", "logprobs"],
    [{ prompt: "a", logprobs: 21 }, "integer_above_max_value", "logprobs"],
    [{ prompt: "a", temperature: 3 }, "decimal_above_max_value", "temperature"],
  ])("E8–E12 is refused: %j", (more, code, param) => {
    expect(ask(more)).toEqual(bad(code, param));
  });
});

describe("other bodies", () => {
  it("need an input for embeddings, and a prompt or messages to tokenize", () => {
    const missing = (param: string) => bad("missing_required_parameter", param);
    expect(refusal({ model: "m" }, "embeddings")).toEqual(missing("input"));
    expect(refusal({ model: "m", input: ["a"], encoding_format: "float" }, "embeddings")).toBeUndefined();
    expect(refusal({ model: "m" }, "tokenize")).toEqual(missing("prompt"));
    expect(refusal({ model: "m", prompt: "a" }, "tokenize")).toBeUndefined();
    expect(refusal({ model: "m", messages: HI }, "tokenize")).toBeUndefined();
    expect(refusal({ model: "m", messages: [] }, "tokenize")).toEqual(bad("empty_array", "messages"));
    expect(refusal({ model: "m", tokens: [3, 0] }, "detokenize")).toBeUndefined();
    expect(refusal({ model: "m" }, "detokenize")).toEqual(missing("tokens"));
    expect(refusal({ model: "m", tokens: "a" }, "detokenize")).toEqual(bad("invalid_type", "tokens"));
    expect(refusal({ model: "m", tokens: [3, -1] }, "detokenize")).toEqual(bad("invalid_type", "tokens[1]"));
  });
});
