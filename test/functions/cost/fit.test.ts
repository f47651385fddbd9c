import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Estimate } from "../../../sdk/schema/cost.ts";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import { estimateReplica } from "../../../functions/cost/estimate-engine.ts";
import { manifestKey, modelBlob } from "../../../functions/models/models.ts";
import { ownMachine } from "../../../functions/cost/pricing.ts";
import { testPlane, type TestPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

interface Refusal {
  error: { code: string; message: string; hint: string; where: string };
}

async function planeWith(memoryMiB: number): Promise<TestPlane> {
  const plane = await testPlane({ onEnd: onTestFinished });
  plane.control.config.pricing = ownMachine(0, memoryMiB);
  return plane;
}

describe("a launch that its machine cannot hold", () => {
  it("is refused with the figures and what would fit, and goes on by force", async () => {
    const plane = await planeWith(800);
    const spec = {
      ...(await preparedSpec(plane)),
      rollout: { promptsPerStep: 16, samplesPerPrompt: 8, maxTokens: 256 },
      trainer: { steps: 2, microBatchSize: 128 },
    };
    const { error } = (await (await plane.call("POST", "/runs", spec)).json()) as Refusal;
    expect(error).toMatchObject({ code: "memory_exceeded", where: "model" });
    expect(error.message).toMatch(
      /^Training spotter\/nano like this takes about [\d,]+ MiB, and there are 800 MiB \(program \d+, weights \d+, /,
    );
    expect(error.hint).toMatch(/^With microBatchSize 16 it is about \d+ MiB\. --force/);
    const fitting = { ...spec, trainer: { steps: 2, microBatchSize: 16 } };
    const fits = await plane.json<RunDetail>("POST", "/runs", fitting);
    expect(fits.estimate?.memory?.neededMiB).toBeLessThan(800);
    expect(fits.estimate?.memory?.availableMiB).toBe(800);
    const forced = await plane.json<RunDetail>("POST", "/runs?force=true", spec);
    expect(forced.estimate?.memory?.neededMiB).toBeGreaterThan(800);
    // It stays with the run.
    expect((await plane.json<RunDetail>("GET", `/runs/${forced.run.id}`)).estimate).toEqual(forced.estimate);
  });

  it("counts the teacher that is served beside it, unless it is served already", async () => {
    const plane = await planeWith(700);
    const { rewards: _rewards, ...own } = await preparedSpec(plane);
    const spec = {
      ...own,
      kind: "distill",
      algorithm: { kind: "distill" },
      teacher: { model: { name: "spotter/nano" } },
      rollout: { promptsPerStep: 16, samplesPerPrompt: 8, maxTokens: 128 },
      trainer: { steps: 2, microBatchSize: 16 },
    };
    const estimate = () => plane.json<Estimate>("POST", "/runs/estimate", spec);
    const { neededMiB = 0, parts } = (await estimate()).memory ?? {};
    expect(parts?.teacher).toBeGreaterThan(150);
    plane.control.config.pricing = ownMachine(0, neededMiB - 1);
    const refused = await plane.call("POST", "/runs", spec);
    expect(((await refused.json()) as Refusal).error).toMatchObject({
      code: "memory_exceeded",
      message: expect.stringMatching(/, teacher \d+\)\.$/) as string,
    });
    await plane.json("POST", "/endpoints", { model: { name: "spotter/nano" }, name: "elder" });
    expect((await estimate()).memory?.parts.teacher).toBeUndefined();
    expect((await plane.call("POST", "/runs", spec)).status).toBe(201);
  });

  it("is refused where a teacher does not fit into its own container", async () => {
    const plane = await planeWith(700);
    plane.control.config.pricing = {
      ...ownMachine(),
      choosesHardware: true,
      memoryMiB: (hardware) => (hardware?.gpu === "L4" ? 100 : 8_000),
    };
    const { rewards: _rewards, ...own } = await preparedSpec(plane);
    const teacher = { model: { name: "spotter/nano" }, hardware: { gpu: "L4" } };
    const spec = { ...own, kind: "distill", algorithm: { kind: "distill" }, teacher };
    const refused = await plane.call("POST", "/runs", spec);
    expect(((await refused.json()) as Refusal).error).toMatchObject({
      code: "memory_exceeded",
      where: "teacher",
    });
    const forced = await plane.call("POST", "/runs?force=true", spec);
    expect(forced.status).toBe(201);
  });

  it("says so where not even one sequence fits", async () => {
    const plane = await planeWith(200);
    const refused = await plane.call("POST", "/runs", await preparedSpec(plane));
    const { error } = (await refused.json()) as Refusal;
    expect(error.hint).toMatch(/^Not even one sequence at a time fits: take a smaller model/);
  });

  it("is refused for endpoints, too", async () => {
    const plane = await planeWith(100);
    const endpoint = { model: { name: "spotter/nano" }, name: "nano" };
    const { error } = (await (await plane.call("POST", "/endpoints", endpoint)).json()) as Refusal;
    expect(error).toMatchObject({ code: "memory_exceeded" });
    expect(error.message).toMatch(/^Serving spotter\/nano takes about 1\d\d MiB, and there are 100 MiB/);
    await plane.json("POST", "/endpoints?force=true", endpoint);
  });

  it("is no refusal where the memory or the model is not known", async () => {
    const plane = await testPlane({ onEnd: onTestFinished });
    const known = await plane.json<RunDetail>("POST", "/runs", await preparedSpec(plane));
    expect(known.estimate?.memory?.availableMiB).toBeUndefined();
    const folder = { ...(await preparedSpec(plane)), model: { name: "/no/such/model" } };
    expect((await plane.json<RunDetail>("POST", "/runs", folder)).estimate?.memory).toBeUndefined();
  });

  it("goes by the config.json of a folder of this machine", async () => {
    const plane = await planeWith(2_000);
    const config = {
      vocab_size: 151_936,
      hidden_size: 1_024,
      num_hidden_layers: 28,
      num_attention_heads: 16,
    };
    plane.control.modelConfig = async () => ({ ...config, num_key_value_heads: 8, intermediate_size: 3_072 });
    const spec = { ...(await preparedSpec(plane)), model: { name: "/models/qwen" } };
    const { error } = (await (await plane.call("POST", "/runs", spec)).json()) as Refusal;
    expect(error.message).toContain("Training /models/qwen like this takes about");
  });
});

describe("a stored GGUF file", () => {
  it("is estimated by its metadata", async () => {
    const { control } = await planeWith(2_000);
    const bytes = readFileSync(new URL("../../fixtures/engine/gguf/qwen3.gguf", import.meta.url));
    const sha256 = "a".repeat(64);
    const file = { path: "qwen3.gguf", size: bytes.length, sha256 };
    await control.store.put(manifestKey(sha256), { v: 1, files: [file] });
    await control.blobs.put(modelBlob(sha256, file.path), new Blob([bytes]).stream());
    const model = { name: "acme/qwen", revision: sha256 };
    const estimate = await estimateReplica(control, { model, engine: "onnx" });
    expect(estimate).toMatchObject({ availableMiB: 2_000 });
    expect(estimate?.neededMiB).toBeGreaterThan(100);
  });
});

describe("a run that would take days", () => {
  it("is refused with how long, and how many steps a day is enough for; and goes on by force", async () => {
    const plane = await planeWith(1_000_000);
    const spec = {
      ...(await preparedSpec(plane)),
      rollout: { promptsPerStep: 16, samplesPerPrompt: 8, maxTokens: 256 },
      trainer: { steps: 1_000_000 },
    };
    const { error } = (await (await plane.call("POST", "/runs", spec)).json()) as Refusal;
    expect(error).toMatchObject({ code: "takes_days", where: "trainer.steps" });
    expect(error.message).toMatch(
      /^1000000 steps would take about [\d.]+ days \([\d.]+ days to [\d.]+ days\)\. By the size/,
    );
    const [, enough] = /^A day is enough for about (\d+) steps\. --force/.exec(error.hint) ?? [];
    await plane.json("POST", "/runs", { ...spec, trainer: { steps: Number(enough) } });
    await plane.json("POST", "/runs?force=true", spec);
  });
});
