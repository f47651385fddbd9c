import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type Checkpoint,
  Dataset,
  Endpoint,
  Eval,
  JsonlDataset,
  recipes,
  type RunEvent,
  TrainConfig,
} from "../../sdk/index.ts";
import { runCli } from "../sdk/cli/run-cli.ts";
import { ownHome } from "./home.ts";

const haiku = new URL("../../examples/haiku/", import.meta.url);
const rewards = new URL("rewards.ts", haiku);
const options = { inputColumn: "keywords", promptTemplate: "Write a haiku about {input}." };
const train = new JsonlDataset(new URL("train.jsonl", haiku), options);
const held = new JsonlDataset(new URL("heldout.jsonl", haiku), options).slice(0, 3);
const messages = [{ role: "user" as const, content: "Write a haiku about rain." }];
const recipe = recipes.grpo({
  steps: 2,
  promptsPerStep: 2,
  samplesPerPrompt: 4,
  maxTokens: 24,
  saveEvery: 1,
  evalEvery: 2,
});

describe("the loop on one machine", () => {
  ownHome();
  let checkpoint: Checkpoint;

  it("serves and chats", async () => {
    const endpoint = await Endpoint.launch("spotter/nano");
    await endpoint.waitUntilReady({ timeoutMs: 40_000 });
    expect((await Endpoint.launch("spotter/nano")).name).toBe(endpoint.name);
    const whole = await endpoint.chat(messages, { max_tokens: 16, seed: 3, temperature: 1 });
    expect(whole.usage.completion_tokens).toBeGreaterThan(0);
    expect(["stop", "length"]).toContain(whole.finishReason);
    let streamed = "";
    for await (const { content } of endpoint.stream(messages, { max_tokens: 16, seed: 3, temperature: 1 })) {
      streamed += content ?? "";
    }
    expect(streamed).toBe(whole.content);
    for await (const _ of endpoint.stream(messages, { max_tokens: 200 })) break;
    expect(await runCli(["endpoint", "chat", endpoint.name, "Hello"])).toMatchObject({ code: 0, err: "" });
  });

  it("answers many at a time, each as if it were alone", async () => {
    const endpoint = await Endpoint.launch("spotter/nano");
    const ask = async (seed: number) =>
      (await endpoint.chat(messages, { max_tokens: 12, seed, temperature: 1 })).content;
    const seeds = Array.from({ length: 16 }, (_, seed) => seed);
    const together = await Promise.all(seeds.map(ask));
    expect(new Set(together).size).toBeGreaterThan(8);
    for (const seed of [0, 7, 15]) expect(await ask(seed)).toBe(together[seed]);
  });

  it("evaluates", async () => {
    const { name } = await Endpoint.launch("spotter/nano");
    const chatOptions = { max_tokens: 24 };
    const evaluation = await new Eval({
      endpoint: name,
      dataset: held,
      rewards,
      samplesPerRow: 2,
      chatOptions,
    }).launch();
    const result = await evaluation.result();
    expect(result).toMatchObject({ n: 6, missing: 0 });
    expect(Object.keys(result.scores).sort()).toEqual(["haiku", "topic"]);
    expect(result.low).toBeLessThanOrEqual(result.mean);
    const rows = await evaluation.rows();
    expect(rows.map(({ row, sample }) => [row, sample])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ]);
    const mean = rows.reduce((sum, { verdict }) => sum + (verdict.total ?? NaN), 0) / rows.length;
    expect(result.mean).toBeCloseTo(mean, 9);
  });

  it("trains, tells everything in order, and leaves checkpoints", async () => {
    const config = new TrainConfig({
      model: "spotter/nano",
      dataset: train,
      evalDataset: held,
      recipe,
      rewards,
      name: "first",
    });
    const run = await config.launch();
    const events: RunEvent[] = [];
    for await (const event of run.events()) events.push(event);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const types = new Set(events.map(({ body }) => body.type));
    expect([...types].sort()).toEqual(
      expect.arrayContaining(["checkpoint", "metrics", "phase", "rollouts", "state"]) as string[],
    );
    const result = await run.result();
    const checkpoints = result.checkpoints();
    expect(checkpoints.map(({ id }) => id)).toEqual([`${run.id}@1`, `${run.id}@2`]);
    expect(result.metrics).toHaveProperty("reward/mean");
    expect(existsSync(checkpoints[0]?.path ?? "")).toBe(true);
    expect(await run.rollouts(1)).toHaveLength(8);
    checkpoint = checkpoints[1] as Checkpoint;
    const folder = mkdtempSync(join(tmpdir(), "spotter-download-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await checkpoint.download(folder);
    expect(existsSync(join(folder, "model", "model.safetensors"))).toBe(true);
    expect((await runCli(`run watch ${run.id}`)).out).toContain("step 2/2  succeeded");
  });

  it("serves the checkpoint, which is no longer the base model, and trains on from it (24, 31)", async () => {
    const base = await Endpoint.launch("spotter/nano");
    const trained = await Endpoint.launch("spotter/nano", { checkpoint });
    expect(trained.name).not.toBe(base.name);
    await trained.waitUntilReady({ timeoutMs: 40_000 });
    expect((await trained.chat(messages, { max_tokens: 8 })).content).not.toBe("");
    await trained.stop();
    await base.stop();
    const startFrom = { checkpoint, mode: "continue" as const };
    const config = new TrainConfig({
      model: "spotter/nano",
      dataset: train,
      recipe: recipes.grpo({ steps: 1, promptsPerStep: 2, samplesPerPrompt: 2, maxTokens: 8 }),
      rewards,
      startFrom,
    });
    const result = await (await config.launch()).result();
    expect(result.run).toMatchObject({ state: "succeeded", step: 1, steps: 1 });
    expect(result.checkpoints()).toHaveLength(1);
  });

  it("learns from answers as well", async () => {
    const dataset = Dataset.fromArray(
      [
        { q: "Say hello.", a: "hello" },
        { q: "Say goodbye.", a: "goodbye" },
      ],
      { inputColumn: "q", outputColumn: "a" },
    );
    const config = new TrainConfig({
      model: "spotter/nano",
      dataset,
      recipe: recipes.sft({ steps: 2, batchSize: 2 }),
      adapter: "lora",
    });
    const { metrics } = await (await config.launch()).result();
    expect(metrics.loss).toBeGreaterThan(0);
  });

  it("says what is wrong before any work is done", async () => {
    const base = { model: "spotter/nano", dataset: train, evalDataset: held, recipe, rewards };
    await expect(
      new TrainConfig({ ...base, rewards: { file: rewards, names: ["nope"] } }).launch(),
    ).rejects.toMatchObject({
      code: "reward_missing",
    });
    await expect(new TrainConfig({ ...base, startFrom: "run-none@3" }).launch()).rejects.toMatchObject({
      code: "checkpoint_not_found",
    });
    await expect(Endpoint.get("nope")).rejects.toMatchObject({ code: "not_found" });
  });
});
