import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeTinyModel } from "../onnx/fixtures/tiny-model.ts";
import { serveModel, type Served } from "./harness.ts";

const messages = [{ role: "user" as const, content: "Hi" }];

let dir: string;
let served: Served;
let client: OpenAI;
beforeAll(async () => {
  dir = await writeTinyModel(await mkdtemp(join(tmpdir(), "spotter-serve-")));
  served = await serveModel(dir, "haiku", 4);
  client = served.client;
});
afterAll(async () => {
  await served.close();
  await rm(dir, { recursive: true, force: true });
});

describe("the openai client", () => {
  it("gets the same answer streamed and whole", async () => {
    const body = { model: "haiku", messages, seed: 3, max_tokens: 40, n: 2, logprobs: true, top_logprobs: 2 };
    const whole = await client.chat.completions.create(body);
    const stream = await client.chat.completions.create({
      ...body,
      stream: true,
      stream_options: { include_usage: true },
    });
    const contents = ["", ""];
    const reasons: (string | null)[] = [null, null];
    const logprobs: number[][] = [[], []];
    let usage: unknown;
    for await (const chunk of stream) {
      usage = chunk.usage ?? usage;
      for (const { index, delta, finish_reason: reason, logprobs: given } of chunk.choices) {
        contents[index] += delta.content ?? "";
        reasons[index] = reason ?? reasons[index] ?? null;
        logprobs[index]?.push(...(given?.content ?? []).map(({ logprob }) => logprob));
      }
    }
    expect(contents).toEqual(whole.choices.map(({ message }) => message.content));
    expect(reasons).toEqual(whole.choices.map((choice) => choice.finish_reason));
    expect(logprobs).toEqual(
      whole.choices.map((choice) => choice.logprobs?.content?.map(({ logprob }) => logprob)),
    );
    expect(usage).toEqual(whole.usage);
    expect(contents[0]).not.toBe(contents[1]);
  });

  it("reads errors as its own", async () => {
    const failing = client.chat.completions.create({ model: "haiku", messages, max_tokens: 9999 });
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      param: "messages",
    });
  });

  it("frees the slots of streams it leaves", async () => {
    const body = { model: "haiku", messages, stream: true as const, stop: "no such text" };
    for (let i = 0; i < 8; i++) {
      const stream = await client.chat.completions.create(body);
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== "") break;
    }
    const answer = await client.chat.completions.create({ model: "haiku", messages, max_tokens: 2 });
    expect(answer.usage?.completion_tokens).toBeLessThanOrEqual(2);
  });

  it("lists models", async () => {
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["haiku"]);
  });
});
