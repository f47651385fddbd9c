import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeTinyModel } from "../onnx/fixtures/tiny-model.ts";
import { serveModel, type Served } from "./harness.ts";

const model = "haiku";
const poem = "An old silent pond";

let dir: string;
let served: Served;
let client: OpenAI;
beforeAll(async () => {
  dir = await writeTinyModel(await mkdtemp(join(tmpdir(), "spotter-completions-")));
  served = await serveModel(dir, model, 4);
  client = served.client;
});
afterAll(async () => {
  await served.close();
  await rm(dir, { recursive: true, force: true });
});

type Body = OpenAI.CompletionCreateParamsNonStreaming;
type Logprobs = OpenAI.CompletionChoice.Logprobs;
const complete = (body: Omit<Body, "model">): Promise<OpenAI.Completion> =>
  client.completions.create({ model, temperature: 0, max_tokens: 8, ...body });

/** The same, put together from the chunks of a stream. */
async function streamed(body: Omit<Body, "model">): Promise<{ text: string; logprobs: Logprobs[] }[]> {
  const stream = await client.completions.create({
    model,
    temperature: 0,
    max_tokens: 8,
    ...body,
    stream: true,
  });
  const choices: { text: string; logprobs: Logprobs[] }[] = [];
  for await (const chunk of stream) {
    for (const { index, text: piece, logprobs } of chunk.choices) {
      const choice = (choices[index] ??= { text: "", logprobs: [] });
      choice.text += piece;
      if (logprobs) choice.logprobs.push(logprobs);
    }
  }
  return choices;
}

describe("prompts", () => {
  it("are a text, several, token ids, or lists of them, all the same to the model", async () => {
    const [one, two] = [poem, "A frog jumps in"];
    const idsOf = (prompt: string): number[] => served.text.tokenizer.encode(prompt);
    const [first, second] = (await complete({ prompt: [one, two] })).choices;
    const same = [
      await complete({ prompt: [idsOf(one), idsOf(two)] }),
      await complete({ prompt: [one, two], n: 1, best_of: 1 }),
    ];
    for (const { choices } of same) expect(choices.map((c) => c.text)).toEqual([first?.text, second?.text]);
    expect((await complete({ prompt: one })).choices[0]?.text).toBe(first?.text);
    expect((await complete({ prompt: idsOf(two) })).choices[0]?.text).toBe(second?.text);
  });

  it("have n answers each, by index, and count once", async () => {
    const body = { prompt: [poem, "x"], n: 3, temperature: 1, seed: 4, max_tokens: 12 };
    const { choices, usage } = await complete(body);
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(choices.map((choice) => choice.text)).size).toBe(6);
    expect(usage).toMatchObject({ prompt_tokens: poem.length + 1 });
    expect(usage?.completion_tokens).toBeGreaterThan(36);
    expect((await streamed(body)).map((choice) => choice.text)).toEqual(choices.map((c) => c.text));
    expect((await complete(body)).choices).toEqual(choices);
  });
});

describe("usage", () => {
  it("tells the tokens that an earlier request had read, streamed and whole", async () => {
    const messages = [{ role: "user" as const, content: "Tell me of the old pond." }];
    const body = { model, messages, max_tokens: 4, n: 3, temperature: 0 };
    const first = (await client.chat.completions.create(body)).usage;
    const prompt = first?.prompt_tokens ?? 0;
    expect(first?.prompt_tokens_details).toEqual({ cached_tokens: 0 });
    const second = (await client.chat.completions.create(body)).usage;
    expect(second).toMatchObject({
      prompt_tokens: prompt,
      prompt_tokens_details: { cached_tokens: prompt - 1 },
    });
    const options = { include_usage: true };
    const stream = await client.chat.completions.create({ ...body, stream: true, stream_options: options });
    let last: unknown;
    for await (const { usage } of stream) last = usage ?? last;
    expect(last).toEqual(second);
  });
});

describe("many answers", () => {
  it("E11 may be 128, each its own, the same for the same seed", async () => {
    const body = { prompt: poem, n: 128, temperature: 1, seed: 11, max_tokens: 3, ignore_eos: true };
    const { choices, usage } = await complete(body);
    expect(choices.map(({ index }) => index)).toEqual(Array.from({ length: 128 }, (_, i) => i));
    expect(new Set(choices.map((choice) => choice.text)).size).toBeGreaterThan(100);
    expect(usage).toMatchObject({ prompt_tokens: poem.length, completion_tokens: 384 });
    const few = await complete({ ...body, n: 2 });
    expect(few.choices.map((c) => c.text)).toEqual(choices.slice(0, 2).map((c) => c.text));
  });
});

describe("echo", () => {
  it("with log-probabilities and max_tokens 0 scores a text: the teacher's door", async () => {
    const ids = served.text.tokenizer.encode(poem);
    const [expected = []] = await served.engine.score([ids], "policy", 1);
    for (const prompt of [poem, ids]) {
      const { choices, usage } = await complete({ prompt, echo: true, logprobs: 2, max_tokens: 0 });
      const [choice] = choices;
      const { tokens, token_logprobs, top_logprobs, text_offset } = choice?.logprobs ?? {};
      expect(choice).toMatchObject({ text: poem, finish_reason: "length" });
      expect(tokens).toEqual([...poem]);
      expect(text_offset).toEqual([...poem].map((_, at) => at));
      expect(token_logprobs?.[0]).toBeNull();
      expect(top_logprobs?.[0]).toBeNull();
      for (const [at, logprob] of expected.slice(1).entries())
        expect(token_logprobs?.[at + 1]).toBeCloseTo(logprob, 4);
      for (const [at, top] of (top_logprobs ?? []).slice(1).entries()) {
        expect(Object.keys(top ?? {}).length).toBeLessThanOrEqual(3);
        expect(top?.[poem[at + 1] ?? ""]).toBe(token_logprobs?.[at + 1]);
      }
      expect(usage).toMatchObject({ prompt_tokens: ids.length, completion_tokens: 0 });
    }
  });

  it("scores many texts in one request, as each alone", async () => {
    const prompts = Array.from({ length: 9 }, (_, i) => poem.slice(i));
    const body = { echo: true, logprobs: 0, max_tokens: 0 };
    const together = await complete({ ...body, prompt: prompts });
    for (const [i, prompt] of prompts.entries()) {
      const alone = (await complete({ ...body, prompt })).choices[0]?.logprobs?.token_logprobs ?? [];
      const beside = together.choices[i]?.logprobs?.token_logprobs ?? [];
      expect(beside).toHaveLength(prompt.length);
      for (const [at, logprob] of alone.entries()) {
        if (logprob === null) expect(beside[at]).toBeNull();
        else expect(beside[at]).toBeCloseTo(logprob, 4);
      }
    }
  });

  it("puts the prompt before the answer, streamed and whole", async () => {
    const plain = await complete({ prompt: poem });
    const answer = plain.choices[0]?.text ?? "";
    expect((await complete({ prompt: poem, echo: true })).choices[0]?.text).toBe(poem + answer);
    expect(await streamed({ prompt: poem, echo: true })).toEqual([{ text: poem + answer, logprobs: [] }]);
    const body = { prompt: [poem, "x"], echo: true, logprobs: 1 };
    const whole = await complete(body);
    const pieces = await streamed(body);
    for (const [index, choice] of whole.choices.entries()) {
      const { logprobs } = choice;
      const parts = pieces[index]?.logprobs ?? [];
      expect(pieces[index]?.text).toBe(choice.text);
      expect(parts.flatMap(({ tokens }) => tokens ?? [])).toEqual(logprobs?.tokens);
      expect(parts.flatMap((part) => part.token_logprobs ?? [])).toEqual(logprobs?.token_logprobs);
      expect(parts.flatMap((part) => part.text_offset ?? [])).toEqual(logprobs?.text_offset);
      expect(logprobs?.tokens).toHaveLength((index === 0 ? poem.length : 1) + 8);
    }
    expect((await complete({ prompt: poem, echo: true, max_tokens: 0 })).choices[0]?.text).toBe(poem);
  });
});

describe("log-probabilities of an answer", () => {
  it("are the model's own at any temperature", async () => {
    const prompt = served.text.tokenizer.encode(poem);
    for (const temperature of [0, 0.5, 1.7]) {
      const { choices } = await complete({ prompt, temperature, seed: 3, logprobs: 1, max_tokens: 6 });
      const { tokens, token_logprobs: given = [] } = choices[0]?.logprobs ?? {};
      const ids = (await complete({ prompt, temperature, seed: 3, max_tokens: 6, logprobs: 0, ...asIds }))
        .choices;
      const answer = (ids[0]?.logprobs?.tokens ?? []).map((name) => Number(name.slice("token_id:".length)));
      expect(tokens).toHaveLength(6);
      const [scores = []] = await served.engine.score([[...prompt, ...answer]], "policy", 1);
      for (const [at, logprob] of (given ?? []).entries())
        expect(logprob).toBeCloseTo(scores[prompt.length + at] ?? NaN, 3);
    }
  });

  it("name tokens that are no text of their own by their bytes", async () => {
    const half = served.text.tokenizer.encode("é")[0] ?? 0;
    const { choices } = await complete({
      prompt: "a",
      max_tokens: 1,
      logprobs: 0,
      logit_bias: { [half]: 100 },
    });
    expect(choices[0]?.logprobs?.tokens).toEqual(["bytes:\\xc3"]);
    expect(Object.keys(choices[0]?.logprobs?.top_logprobs?.[0] ?? {})).toEqual(["bytes:\\xc3"]);
    const { choices: echoed } = await complete({ prompt: "né!", max_tokens: 0, echo: true, logprobs: 0 });
    expect(echoed[0]?.logprobs).toMatchObject({
      tokens: ["n", "bytes:\\xc3", "bytes:\\xa9", "!"],
      text_offset: [0, 1, 1, 2],
    });
  });
});

const asIds = { return_tokens_as_token_ids: true };

describe("stop strings", () => {
  it("are cut off wherever tokens split them, streamed and whole", async () => {
    const { choices } = await complete({ prompt: poem, temperature: 1, seed: 8, max_tokens: 40 });
    const full = choices[0]?.text ?? "";
    for (const [from, length] of [
      [5, 1],
      [9, 3],
      [20, 2],
    ] as const) {
      const stop = full.slice(from, from + length);
      const expected = full.slice(0, full.indexOf(stop));
      const body = { prompt: poem, temperature: 1, seed: 8, max_tokens: 40, stop: [stop, "no such text"] };
      expect((await complete(body)).choices[0]).toMatchObject({ text: expected, finish_reason: "stop" });
      expect((await streamed(body))[0]?.text).toBe(expected);
    }
  });
});

describe("a completion that is wrong", () => {
  it.each<[string, object, string | null, string]>([
    ["E8 no prompt", {}, "missing_required_parameter", "prompt"],
    ["E8 no model", { model: undefined, prompt: "x" }, "missing_required_parameter", "model"],
    ["E9 a number", { prompt: 3 }, "invalid_type", "prompt"],
    ["E9 a mixture", { prompt: ["a", 3] }, "invalid_type", "prompt[1]"],
    ["E9 an id that is text", { prompt: [3, "a"] }, "invalid_type", "prompt[1]"],
    ["E9 an id that is none", { prompt: [[3], [4, 1.5]] }, "invalid_type", "prompt[1][1]"],
    ["E9 log-probabilities as chat asks", { prompt: "x", logprobs: true }, "invalid_type", "logprobs"],
    ["E10 nothing", { prompt: "" }, "invalid_value", "prompt"],
    ["E11 a negative id", { prompt: [3, -1] }, "integer_below_min_value", "prompt[1]"],
    ["E11 an id of no token", { prompt: [[263]] }, "integer_above_max_value", "prompt[0][0]"],
    ["E11 many alternatives", { prompt: "x", logprobs: 21 }, "integer_above_max_value", "logprobs"],
    ["E11 fewer than no tokens", { prompt: "x", max_tokens: -1 }, "integer_below_min_value", "max_tokens"],
    ["E11 too many answers", { prompt: Array(9).fill("x"), n: 128 }, "integer_above_max_value", "n"],
    ["E12 no prompts", { prompt: [] }, "empty_array", "prompt"],
    ["E12 no ids", { prompt: [[]] }, "empty_array", "prompt[0]"],
    ["E12 too many prompts", { prompt: Array(257).fill("x") }, "array_above_max_length", "prompt"],
    ["E14 one too long", { prompt: ["x", "y".repeat(257)] }, "context_length_exceeded", "prompt"],
    ["E14 too many ids", { prompt: Array(257).fill(9) }, "context_length_exceeded", "prompt"],
    ["E14 no room", { prompt: "y".repeat(250), max_tokens: 7 }, "context_length_exceeded", "prompt"],
    [
      "E16 two limits",
      { prompt: "x", max_tokens: 0, max_completion_tokens: 2 },
      "invalid_parameter_combination",
      "max_tokens",
    ],
    ["the best of several", { prompt: "x", n: 2, best_of: 5 }, "unsupported_value", "best_of"],
    ["a suffix", { prompt: "x", suffix: "end" }, "unsupported_value", "suffix"],
    [
      "a format",
      { prompt: "x", response_format: { type: "json_object" } },
      "unsupported_value",
      "response_format",
    ],
  ])("is told so, streaming or not: %s", async (_, body, code, param) => {
    for (const stream of [false, true]) {
      const response = await post("/v1/completions", { model, stream, ...body });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: { type: "invalid_request_error", code, param, message: expect.any(String) as string },
      });
    }
  });

  it("is none where the prompt fills the context and nothing is added", async () => {
    const prompt = "y".repeat(256);
    const { choices } = await complete({ prompt, max_tokens: 0, echo: true, logprobs: 0 });
    expect(choices[0]?.logprobs?.token_logprobs).toHaveLength(256);
    // The usual limit of 16 gives way to the room there is.
    const response = await client.completions.create({ model, prompt: "y".repeat(250) });
    expect(response.usage?.completion_tokens).toBeLessThanOrEqual(6);
  });
});

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(new URL(path, served.url), { method: "POST", body: JSON.stringify(body) });
