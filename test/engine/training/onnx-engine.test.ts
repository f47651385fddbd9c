import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startEngine } from "../../../engine/onnx/engine-client.ts";
import { LoraAdapter } from "../../../engine/onnx/models/lora.ts";
import { loadAdapter, writeAdapter } from "../../../engine/onnx/models/peft.ts";
import { loadTextModel } from "../../../engine/onnx/text/text-model.ts";
import type { RunSpecInput } from "../../../sdk/schema/run-spec.ts";
import { score } from "../fake-control-plane.ts";
import { tinyConfig, writeTinyModel } from "../onnx/fixtures/tiny-model.ts";
import { temporaryFolder } from "../onnx/support/temporary.ts";
import { promptRow } from "./fake-engine.ts";
import { trainFixture, type TrainFixture } from "./train-fixture.ts";

const rows = ["one", "two", "three", "four", "five"].map((text) => promptRow(text, text.toUpperCase()));
const rollout = { promptsPerStep: 3, samplesPerPrompt: 4, maxTokens: 12 };
const trainer = { steps: 4, learningRate: 0.01, saveEvery: 2 };

let fixture: TrainFixture;
beforeEach(async () => {
  fixture = await trainFixture({ startEngine, loadTextModel, writeModel: writeTinyModel });
  // Rewards bytes below 128, which a random model samples half of the time.
  fixture.plane.judge = (judged) =>
    judged.map((row) => score([...row.response.content].filter((character) => character < "\u0080").length));
});
afterEach(() => fixture[Symbol.asyncDispose]());

function saved(step: number): Record<string, string> {
  const files = fixture.plane.checkpoints.get(step)?.files ?? new Map<string, Buffer>();
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString("hex")]));
}

const lora = { kind: "lora" as const, rank: 4 };
const kinds: { what: string; kind: "full" | "lora"; spec: Partial<RunSpecInput> }[] = [
  { what: "all weights", kind: "full", spec: { rollout, trainer } },
  {
    what: "an adapter with kl and a schedule",
    kind: "lora",
    spec: {
      rollout,
      adapter: lora,
      algorithm: { kind: "grpo", klCoef: 0.1 },
      trainer: { ...trainer, schedule: "cosine" },
    },
  },
  {
    what: "an adapter and a critic",
    kind: "lora",
    spec: {
      rollout: { ...rollout, samplesPerPrompt: 1 },
      adapter: lora,
      algorithm: { kind: "grpo", advantage: "gae", critic: { updates: 2 } },
      trainer: { ...trainer, optimizer: "sgd" },
    },
  },
  {
    what: "older answers, sequence ratios, entropy, penalties and prompts in place of others",
    kind: "full",
    spec: {
      rollout,
      algorithm: {
        kind: "grpo",
        ratio: "sequence",
        normalizer: "sequence",
        klCoef: 0.1,
        klIn: "reward",
        entropyCoef: 0.01,
        importanceCap: 2,
        lengthPenalty: {},
        maxExtraPrompts: 2,
        maxOffPolicySteps: 1,
      },
      trainer,
    },
  },
  {
    what: "sft",
    kind: "full",
    spec: { kind: "sft", rewards: undefined, algorithm: { kind: "sft", batchSize: 3 }, trainer },
  },
];

const texts = ["one two three", "four", "five six seven eight"].map((text) => ({
  prompt: [],
  text,
  row: {},
}));

describe("on the embedded engine", () => {
  it.each(kinds)(
    "a resumed run equals the uninterrupted one bit for bit: $what",
    async ({ kind, spec }) => {
      expect(await fixture.train(spec, { rows })).toBe(0);
      const whole = saved(4);
      const rollouts = fixture.plane.rollouts.get(4);
      const metrics = fixture.metrics().slice(2);
      const resume = fixture.checkpointOf(2, { kind });
      fixture.plane.checkpoints.clear();
      fixture.plane.rollouts.clear();
      expect(await fixture.train(spec, { rows, resume })).toBe(0);
      expect(saved(4)).toEqual(whole);
      expect(whole).not.toEqual({});
      expect(fixture.plane.rollouts.get(4)).toEqual(rollouts);
      expect(fixture.metrics()).toEqual(metrics);
      expect(resume.files.some(({ path }) => path.startsWith("model/"))).toBe(true);
    },
    30_000,
  );

  it("a run begins with the adapter of a PEFT folder of the shape it asks for", async () => {
    await using folder = await temporaryFolder();
    const adapter = new LoraAdapter(tinyConfig, { rank: 4, alpha: 8, targets: ["q_proj"] });
    for (const { data } of adapter.parameters) data.fill(0.25);
    await writeAdapter(adapter, folder.path);
    const begins = { ...lora, targets: ["q_proj" as const], from: folder.path };
    const spec = { rollout, adapter: begins, trainer: { steps: 1, learningRate: 0.001 } };
    expect(await fixture.train(spec, { rows })).toBe(0);
    const bytes = fixture.plane.checkpoints.get(1)?.files.get("model/adapter_model.safetensors");
    await writeFile(join(folder.path, "adapter_model.safetensors"), bytes ?? "");
    const after = await loadAdapter(tinyConfig, folder.path);
    const moved = [...after.parameters].flatMap(({ data }) =>
      [...data].map((value) => Math.abs(value - 0.25)),
    );
    // AdamW's first step moves a weight by the learning rate at most.
    expect(Math.max(...moved)).toBeCloseTo(0.001, 4);

    expect(await fixture.train({ ...spec, adapter: { ...begins, rank: 2 } }, { rows })).not.toBe(0);
    expect(fixture.exit()?.failure).toMatchObject({
      code: "checkpoint_mismatch",
      message: `${folder.path} has rank 4, not 2.`,
    });
  });

  it("two runs, the second continuing the first, equal one of twice the steps", async () => {
    const spec = { rollout, trainer: { ...trainer, saveEvery: undefined } };
    await fixture.train(spec, { rows });
    const whole = saved(4);
    const half = { rollout, trainer: { ...spec.trainer, steps: 2 } };
    await fixture.train(half, { rows });
    const start = fixture.checkpointOf(2);
    await fixture.train({ ...half, startFrom: { checkpoint: start.id } }, { rows, start });
    const { "trainer/state.json": _state, ...continued } = saved(2);
    expect(whole).toMatchObject(continued);
    expect(Object.keys(continued).length).toBe(Object.keys(whole).length - 1);
  }, 30_000);

  it("learns whole texts, cut to a context, and resumes in the midst of them", async () => {
    const spec = {
      kind: "sft" as const,
      rewards: undefined,
      algorithm: { kind: "sft" as const, batchSize: 2, contextTokens: 8 },
      trainer,
      evalEvery: 2,
    };
    expect(await fixture.train(spec, { rows: texts, evalRows: texts })).toBe(0);
    const whole = saved(4);
    const losses = fixture.metrics().flatMap(({ metrics }) => metrics["eval/loss"] ?? []);
    expect(losses[1]).toBeLessThan(losses[0] ?? 0);
    const resume = fixture.checkpointOf(2);
    expect(await fixture.train(spec, { rows: texts, resume })).toBe(0);
    expect(saved(4)).toEqual(whole);
  }, 30_000);

  it("learns with a critic what each token was worth, and tells how well it was foretold", async () => {
    const algorithm = { kind: "grpo", advantage: "gae" } as const;
    const one = { ...rollout, samplesPerPrompt: 1 };
    await fixture.train({ rollout: one, algorithm, trainer: { steps: 2, learningRate: 0.01 } }, { rows });
    const [first] = fixture.metrics();
    expect(first?.metrics.value_loss).toBeGreaterThan(0);
    expect(first?.metrics.explained_variance).toBeLessThan(1);
    expect(first?.metrics.grad_norm).toBeGreaterThan(0);
    expect(first?.metrics.groups_used).toBe(3);
  }, 30_000);

  it("samples and learns the same log-probabilities", async () => {
    await fixture.train({ rollout, trainer: { steps: 2, learningRate: 0.01 } }, { rows });
    for (const { metrics } of fixture.metrics()) {
      expect(metrics.logprob_drift).toBeLessThan(1e-4);
      expect(metrics.grad_norm).toBeGreaterThan(0);
    }
  }, 30_000);
});
