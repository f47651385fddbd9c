import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Dataset } from "../../sdk/dataset.ts";
import { recipes } from "../../sdk/recipe.ts";
import { TrainConfig, type TrainConfigParams } from "../../sdk/train-config.ts";
import { fakeServer } from "./fake-server.ts";
import { HASH, runDetailOf } from "./records.ts";

const rewards = new URL("../fixtures/sdk/rewards.ts", import.meta.url);
const dataset = Dataset.fromArray([{ keywords: "rain" }], { inputColumn: "keywords", name: "words" });
const held = Dataset.fromArray([{ keywords: "snow" }], { inputColumn: "keywords" });
const base: TrainConfigParams = {
  model: "spotter/nano",
  dataset,
  recipe: recipes.grpo({ steps: 2 }),
  rewards,
};

describe("new TrainConfig", () => {
  it("lists everything that is wrong, with the nearest names", () => {
    const params = {
      ...base,
      dataset: [1],
      evalDatset: dataset,
      recipe: { steps: 2 },
      tags: "a",
      rewards: 7,
    };
    expect(() => new TrainConfig(params as never)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: expect.stringMatching(
          /dataset: must be a Dataset[^]*recipe\.kind: must be[^]*rewards: expected the path[^]*tags: is a string[^]*evalDatset: unknown key; did you mean "evalDataset"/,
        ) as string,
      }),
    );
  });

  it.each([
    ["startFrom", "", /startFrom: is an empty text, expected a checkpoint/],
    ["startFrom", { checkpoint: "" }, /startFrom\.checkpoint: is an empty text/],
    ["rewards", "", /rewards: is an empty text, expected the path/],
    ["rewards", { file: "" }, /rewards\.file: is an empty text, expected the path/],
  ])("does not take an empty %s for none: %j", (key, value, message) => {
    expect(() => new TrainConfig({ ...base, [key]: value })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(message) as string }),
    );
  });

  it("wants rewards for reinforcement learning", () => {
    expect(() => new TrainConfig({ ...base, rewards: undefined })).toThrow(
      expect.objectContaining({ code: "reward_missing" }),
    );
  });
});

describe("config.spec", () => {
  it("is the whole resolved run and sends nothing", async () => {
    const spec = await new TrainConfig({
      ...base,
      evalDataset: held,
      rewards: { file: rewards, names: ["short"], timeoutMs: 500 },
      secrets: ["JUDGE"],
      adapter: "lora",
      startFrom: { checkpoint: { id: "run0@7" } as never, mode: "weights" },
      limits: { durationMs: 1000 },
    }).spec();
    const row = { prompt: [{ role: "user", content: "rain" }], row: { keywords: "rain" } };
    const sha256 = createHash("sha256")
      .update(`${JSON.stringify(row)}\n`)
      .digest("hex");
    expect(spec).toMatchObject({
      kind: "rl",
      model: { name: "spotter/nano" },
      dataset: { sha256, rows: 1, inputColumn: "keywords", name: "words" },
      evalDataset: { rows: 1 },
      rewards: { names: ["short"], timeoutMs: 500, maxMissingShare: 0.2, code: { secrets: ["JUDGE"] } },
      adapter: { kind: "lora", rank: 16 },
      startFrom: { checkpoint: "run0@7", mode: "weights" },
      trainer: { steps: 2 },
      limits: { durationMs: 1000 },
      seed: 0,
    });
  });

  it("refuses to evaluate on prompts that are trained on, unless that is wanted", async () => {
    const both = Dataset.fromArray([{ keywords: "snow" }, { keywords: "rain", other: 1 }], {
      inputColumn: "keywords",
    });
    await expect(new TrainConfig({ ...base, evalDataset: both }).spec()).rejects.toMatchObject({
      code: "datasets_overlap",
      message: '1 of the 2 prompts of evalDataset are trained on, for example "rain".',
    });
    const allowed = await new TrainConfig({ ...base, evalDataset: both, allowOverlap: true }).spec();
    expect(allowed.evalDataset?.rows).toBe(2);
  });

  it("takes hardware and a budget, and refuses hardware that nothing has", async () => {
    const config = { ...base, hardware: { gpu: "A10G", spot: true }, limits: { maxCostUsd: 5 } } as const;
    expect(await new TrainConfig(config).spec()).toMatchObject({
      hardware: { gpu: "A10G", count: 1, spot: true },
      limits: { maxCostUsd: 5 },
    });
    expect(await new TrainConfig(base).spec()).not.toHaveProperty("hardware");
    for (const wrong of [
      { hardware: { gpu: "RTX" } },
      { hardware: { gpu: "L4", count: 0 } },
      { limits: { maxCostUsd: 0 } },
    ])
      expect(() => new TrainConfig({ ...base, ...(wrong as object) })).toThrow(/TrainConfig is not valid/);
  });

  it("is all that an estimate needs: nothing is uploaded, nothing launched", async () => {
    const guess = { seconds: 60, usd: 1 };
    const answer = {
      ...{ ...guess, low: guess, high: guess, instance: "fargate", hourlyUsd: 1, gpus: 0, spot: false },
      basis: { kind: "default", tokensPerS: 8, tokensPerStep: 100, text: "A rule of thumb." },
      notes: [],
    };
    const { client, requests } = await fakeServer({ "POST /runs/estimate": () => answer });
    expect(await new TrainConfig(base).estimate({ client })).toEqual(answer);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /runs/estimate"]);
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual(await new TrainConfig(base).spec());
  });

  it("takes a checkpoint alone as the place to continue from", async () => {
    const { startFrom } = await new TrainConfig({ ...base, startFrom: "run0@7" }).spec();
    expect(startFrom).toEqual({ checkpoint: "run0@7", mode: "continue" });
  });

  it("names a checkpoint that is none", async () => {
    await expect(new TrainConfig({ ...base, startFrom: "run0" }).spec()).rejects.toMatchObject({
      where: "startFrom.checkpoint",
    });
  });

  it("wants answers for supervised training", async () => {
    const { rewards: _, ...rest } = base;
    const config = new TrainConfig({ ...rest, recipe: recipes.sft({ steps: 1 }) });
    await expect(config.spec()).rejects.toMatchObject({ code: "dataset_invalid" });
  });
});

describe("config.launch", () => {
  const record = { v: 1, sha256: HASH, name: "words", rows: 1, bytes: 1, createdAtMs: 1 };

  it("uploads what the server lacks, then queues the run", async () => {
    const config = new TrainConfig(base);
    const spec = await config.spec();
    const code = spec.rewards?.code.sha256 ?? "";
    const { client, requests } = await fakeServer({
      [`PUT /datasets/${spec.dataset.sha256}`]: () => record,
      [`PUT /user-code/${code}`]: () => ({
        v: 1,
        sha256: code,
        name: "rewards.ts",
        exports: [],
        bytes: 1,
        createdAtMs: 1,
      }),
      "POST /runs": () => runDetailOf({ state: "queued" }),
    });
    const run = await config.launch({ client });
    expect([run.id, run.state, run.url]).toEqual(["run1", "queued", "http://127.0.0.1:7717/ui/runs/run1"]);
    const sent = Object.fromEntries(requests.map(({ method, path, body }) => [`${method} ${path}`, body]));
    const rows = sent[`PUT /datasets/${spec.dataset.sha256}`] ?? "";
    expect(createHash("sha256").update(rows).digest("hex")).toBe(spec.dataset.sha256);
    const module = sent[`PUT /user-code/${code}`] ?? "";
    expect(createHash("sha256").update(module).digest("hex")).toBe(code);
    expect(requests.find(({ path }) => path.startsWith("/user-code"))?.query).toEqual({});
    expect(JSON.parse(sent["POST /runs"] ?? "")).toEqual(spec);
  });

  it("sends no rows and no code that are there already, and asks for one run though its answer was lost", async () => {
    const config = new TrainConfig(base);
    const spec = await config.spec();
    const code = spec.rewards?.code.sha256 ?? "";
    const { client, requests } = await fakeServer({
      [`GET /datasets/${spec.dataset.sha256}`]: () => record,
      [`GET /user-code/${code}`]: () => ({
        v: 1,
        sha256: code,
        name: "r",
        exports: [],
        bytes: 1,
        createdAtMs: 1,
      }),
      "POST /runs": (_, response) =>
        launches().length === 1 ? void response.socket?.destroy() : runDetailOf({ state: "queued" }),
    });
    const launches = () => requests.filter(({ method }) => method === "POST");
    const keys = () => launches().map(({ headers }) => headers["idempotency-key"]);
    expect((await config.launch({ client })).id).toBe("run1");
    expect(requests.map(({ method }) => method).sort()).toEqual(["GET", "GET", "POST", "POST"]);
    expect(new Set(launches().map(({ body }) => body)).size).toBe(1);
    expect(keys()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys()[0]]);
    await config.launch({ client });
    expect(keys()).toHaveLength(3);
    expect(keys()[2]).not.toBe(keys()[0]);
  });
});
