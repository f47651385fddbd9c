import { describe, expect, it } from "vitest";
import { say, serveScript } from "./harness.ts";

const { app, post, text } = serveScript(say("x"));

describe("tokenizing", () => {
  it("gives the tokens of a text as completions read it", async () => {
    const tokens = text.tokenizer.encode("né");
    expect(await (await post("/tokenize", { model: "haiku", prompt: "né" })).json()).toEqual({
      count: 3,
      max_model_len: 256,
      tokens,
      token_strs: null,
    });
    expect(await (await post("/tokenize", { prompt: "ne", return_token_strs: true })).json()).toMatchObject({
      token_strs: ["n", "e"],
    });
    expect(await (await post("/detokenize", { tokens })).json()).toEqual({ prompt: "né" });
  });

  it("gives the tokens of a chat as chat reads it", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    const read = async (extra: object): Promise<string> => {
      const { tokens } = (await (await post("/tokenize", { messages, ...extra })).json()) as {
        tokens: number[];
      };
      const { prompt } = (await (await post("/detokenize", { tokens })).json()) as { prompt: string };
      return prompt;
    };
    expect(await read({})).toBe("<|user|>Hi<|end|><|assistant|>");
    expect(await read({ add_generation_prompt: false })).toBe("<|user|>Hi<|end|>");
    expect(await read({ chat_template_kwargs: { enable_thinking: true } })).toContain("<think>");
  });

  it.each<[string, string, object, string | null, string]>([
    ["nothing", "/tokenize", {}, "missing_required_parameter", "prompt"],
    ["a number", "/tokenize", { prompt: 3 }, "invalid_type", "prompt"],
    ["no message", "/tokenize", { messages: [] }, "empty_array", "messages"],
    [
      "a template",
      "/tokenize",
      { messages: [{ role: "user", content: "x" }], chat_template: "x" },
      "unsupported_value",
      "chat_template",
    ],
    ["no tokens", "/detokenize", {}, "missing_required_parameter", "tokens"],
    [
      "millions of tokens",
      "/detokenize",
      { tokens: Array(2 ** 18 + 1).fill(9) },
      "array_above_max_length",
      "tokens",
    ],
    ["a token that is text", "/detokenize", { tokens: ["a"] }, "invalid_type", "tokens[0]"],
    ["a token that is none", "/detokenize", { tokens: [1, 263] }, "integer_above_max_value", "tokens[1]"],
  ])("refuses %s", async (_, path, body, code, param) => {
    const response = await post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", code, param } });
  });

  it("E6 wants a POST", async () => {
    const response = await app.request("/tokenize");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
