import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineApi, GenerateRequest, TokenChunk, TrainBatch } from "../../../engine/onnx/engine-api.ts";
import { startEngine } from "../../../engine/onnx/engine-client.ts";
import { writeTinyModel } from "./fixtures/tiny-model.ts";

const request: GenerateRequest = {
  promptIds: [8, 9, 10],
  maxNewTokens: 8,
  temperature: 1,
  topP: 1,
  topK: 0,
  seed: 4,
  stopIds: [],
};

const batch: TrainBatch = {
  sequences: [{ ids: [8, 9, 10, 11], mask: [0, 0, 1, 1], advantages: [1, 1, 1, 1] }],
  loss: "sft",
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoef: 0,
  temperature: 1,
  learningRate: 0.01,
  microBatchSize: 4,
};

const optimizer = {
  type: "adamw" as const,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

let dir: string;
let modelDir: string;
let engine: EngineApi;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "spotter-engine-"));
  modelDir = await writeTinyModel(join(dir, "base"));
  engine = await startEngine({
    modelDir,
    threads: 1,
    slots: 4,
    trainer: { optimizer, reference: true, seed: 1 },
  });
});
afterAll(async () => {
  await engine.close();
  await rm(dir, { recursive: true, force: true });
});

describe("startEngine", () => {
  it("generates the same for the same seed, streaming or not, in company or alone", async () => {
    const chunks: TokenChunk[] = [];
    const streamed = await engine.generate(
      { ...request, topLogprobs: 2 },
      { onTokens: (chunk) => chunks.push(chunk) },
    );
    const others = Array.from({ length: 9 }, (_, seed) => engine.generate({ ...request, seed }));
    const together = await Promise.all(others);
    expect(together[4]?.ids).toEqual(streamed.ids);
    expect(chunks.flatMap(({ ids }) => ids)).toEqual(streamed.ids);
    expect(chunks.flatMap(({ logprobs }) => logprobs)).toEqual(streamed.logprobs);
    expect(chunks.flatMap(({ topLogprobs }) => topLogprobs)).toEqual(streamed.topLogprobs);
    expect(streamed).toMatchObject({ finishReason: "length" });
    expect(streamed.topLogprobs).toHaveLength(8);
  });

  it("goes on after a request that wants no token", async () => {
    expect(await engine.generate({ ...request, maxNewTokens: 0 })).toMatchObject({ ids: [] });
    expect((await engine.generate(request)).ids).toHaveLength(8);
  });

  it("reports the prompt once, before the tokens", async () => {
    const chunks: TokenChunk[] = [];
    const asked = { ...request, promptLogprobs: 1, maxNewTokens: 2 };
    const whole = await engine.generate(asked, { onTokens: (chunk) => chunks.push(chunk) });
    expect(chunks.map(({ ids, prompt }) => [ids.length, prompt !== undefined])).toEqual([
      [0, true],
      [1, false],
      [1, false],
    ]);
    expect(whole.prompt).toEqual(chunks[0]?.prompt);
    expect(whole.prompt).toMatchObject({ cachedTokens: 0 });
    expect(whole.prompt?.logprobs).toHaveLength(3);
  });

  it("scores what it sampled as it sampled it", async () => {
    const { ids, logprobs } = await engine.generate({ ...request, temperature: 0.7 });
    const [scores] = await engine.score([[...request.promptIds, ...ids]], "policy", 0.7);
    for (const [index, logprob] of logprobs.entries()) expect(scores?.[3 + index]).toBeCloseTo(logprob, 4);
  });

  it("samples from the weights a training step left, and keeps the reference", async () => {
    const [before] = await engine.score([[8, 9, 10, 11]], "policy", 1);
    const { loss, tokens } = await engine.trainStep(batch);
    const [after] = await engine.score([[8, 9, 10, 11]], "policy", 1);
    const [reference] = await engine.score([[8, 9, 10, 11]], "reference", 1);
    const { ids, logprobs } = await engine.generate({ ...request, temperature: 0, maxNewTokens: 1 });
    const [scored] = await engine.score([[...request.promptIds, ...ids]], "policy", 1);
    expect(tokens).toBe(2);
    expect(loss).toBeGreaterThan(0);
    expect(after?.[3]).toBeGreaterThan(before?.[3] ?? 0);
    expect(reference).toEqual(before);
    expect(logprobs[0]).toBeCloseTo(scored?.[3] ?? 0, 4);
  });

  it("saves a model that can be served, and a state that can be gone on from", async () => {
    const saved = join(dir, "saved");
    await engine.saveModel(join(saved, "model"));
    await engine.saveTrainerState(join(saved, "trainer"));
    await engine.loadTrainerState(join(saved, "trainer"));
    expect(await readdir(join(saved, "model"))).toEqual(
      expect.arrayContaining(["config.json", "model.safetensors", "tokenizer.json"]),
    );
    const served = await startEngine({ modelDir: join(saved, "model"), threads: 1, slots: 1 });
    const greedy = { ...request, temperature: 0 };
    expect((await served.generate(greedy)).ids).toEqual((await engine.generate(greedy)).ids);
    await expect(served.trainStep(batch)).rejects.toMatchObject({ code: "invalid_input" });
    await expect(served.score([[8, 9]], "reference", 1)).rejects.toMatchObject({ code: "invalid_input" });
    await served.close();
  });

  it("trains an adapter and serves it on its base", async () => {
    const lora = { rank: 2, alpha: 4, targets: ["q_proj", "v_proj"] };
    const setup = { modelDir, threads: 1, slots: 1 };
    const trained = await startEngine({ ...setup, trainer: { lora, optimizer, reference: false, seed: 1 } });
    await trained.trainStep(batch);
    await trained.saveModel(join(dir, "adapter"));
    const served = await startEngine({ ...setup, adapterDir: join(dir, "adapter") });
    const base = await startEngine(setup);
    const score = (api: EngineApi): Promise<number[][]> => api.score([[8, 9, 10, 11]], "policy", 1);
    expect(await score(served)).toEqual(await score(trained));
    expect(await score(served)).not.toEqual(await score(base));
    await Promise.all([trained, served, base].map((api) => api.close()));
  });

  it("gives a slot back when its request is aborted", async () => {
    const abort = new AbortController();
    const long = { ...request, maxNewTokens: 200 };
    const running = Array.from({ length: 4 }, () =>
      engine.generate(long, { signal: abort.signal, onTokens: () => abort.abort() }),
    );
    const waiting = engine.generate({ ...request, maxNewTokens: 1 });
    const outcomes = await Promise.allSettled(running);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "user_cancelled" } });
    }
    expect((await waiting).ids).toHaveLength(1);
    await expect(engine.generate(request, { signal: abort.signal })).rejects.toMatchObject({
      code: "user_cancelled",
    });
  });

  it("refuses a bad request with a code, and stays alive", async () => {
    await expect(engine.generate({ ...request, promptIds: [] })).rejects.toMatchObject({
      code: "invalid_input",
    });
    await expect(
      engine.generate({ ...request, promptIds: new Array<number>(300).fill(9) }),
    ).rejects.toMatchObject({
      code: "context_length_exceeded",
      status: 400,
    });
    expect((await engine.generate(request)).ids).toHaveLength(8);
  });

  it("does not hold up this thread", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await Promise.all(
      Array.from({ length: 40 }, (_, seed) => engine.generate({ ...request, seed, maxNewTokens: 60 })),
    );
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
  });

  it("says what is wrong with a model", async () => {
    await expect(startEngine({ modelDir: dir, threads: 1, slots: 1 })).rejects.toMatchObject({
      code: "model_not_found",
    });
  });
});

describe("a worker that dies", () => {
  it("fails what is pending and what comes, with a code", async () => {
    const worker = new Worker(new URL("./fixtures/crashing-worker.ts", import.meta.url));
    const dying = await startEngine({ modelDir, threads: 1, slots: 1 }, worker);
    const outcomes = await Promise.allSettled([dying.generate(request), dying.trainStep(batch)]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: "rejected",
        reason: { code: "engine_failed", message: expect.stringContaining("bad_alloc") as string },
      });
    }
    await expect(dying.generate(request)).rejects.toMatchObject({ code: "engine_failed" });
    await dying.close();
  });

  it("rejects what is pending when it is closed", async () => {
    const closing = await startEngine({ modelDir, threads: 1, slots: 1 });
    const pending = closing.generate({ ...request, maxNewTokens: 200 });
    const [outcome] = await Promise.allSettled([pending, closing.close()]);
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "engine_failed" } });
  });
});
