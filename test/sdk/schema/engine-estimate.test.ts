import { describe, expect, it } from "vitest";
import {
  rowTokens,
  secondsPerStep,
  servingMemory,
  totalMiB,
  trainingMemory,
  type EstimatedSpec,
} from "../../../sdk/schema/engine-estimate.ts";
import { NANO_SHAPE, type ModelShape } from "../../../sdk/schema/model-shape.ts";
import { runSpec, type RunSpecInput } from "../../../sdk/schema/run-spec.ts";

const SHA = "0".repeat(64);
const SHAPES: Record<string, ModelShape> = {
  nano: NANO_SHAPE,
  "llama-16m": {
    ...NANO_SHAPE,
    ...{ vocabularySize: 8_192, hiddenSize: 384, layers: 8, heads: 6, keyValueHeads: 2, headSize: 64 },
    ...{ feedForwardSize: 1_024, maxPositions: 2_048 },
  },
  "llama-135m": {
    ...NANO_SHAPE,
    ...{ vocabularySize: 49_152, hiddenSize: 576, layers: 30, heads: 9, keyValueHeads: 3, headSize: 64 },
    ...{ feedForwardSize: 1_536, maxPositions: 2_048 },
  },
};

/**
 * Peaks of resident memory of test/long/peak-memory.ts, in MiB, Linux x64, ONNX Runtime 1.30: model, work, adapter,
 * sequences, tokens of the prompt and of the answer, micro-batch, optimizer, whether there is a reference.
 */
const MEASURED: [string, string, string, number, number, number, number, "adamw" | "sgd", boolean, number][] =
  [
    ["nano", "serve", "-", 4, 32, 32, 4, "adamw", false, 161],
    ["nano", "rl", "full", 64, 32, 96, 64, "adamw", false, 729],
    ["nano", "rl", "lora", 64, 32, 96, 64, "adamw", false, 706],
    ["nano", "rl", "full", 128, 32, 224, 128, "adamw", false, 3414],
    ["llama-16m", "serve", "-", 4, 32, 32, 4, "adamw", false, 306],
    ["llama-16m", "rl", "full", 16, 32, 96, 16, "adamw", false, 1133],
    ["llama-16m", "rl", "full", 16, 32, 96, 4, "adamw", false, 843],
    ["llama-16m", "rl", "lora", 16, 32, 96, 16, "adamw", false, 1003],
    ["llama-16m", "rl", "full", 16, 32, 96, 16, "adamw", true, 1439],
    ["llama-16m", "rl", "lora", 8, 32, 480, 8, "adamw", false, 2040],
    ["llama-16m", "sft", "lora", 32, 32, 32, 32, "adamw", false, 990],
    ["llama-135m", "serve", "-", 2, 32, 32, 2, "adamw", false, 1398],
    ["llama-135m", "sft", "lora", 8, 1, 64, 8, "adamw", false, 2459],
    ["llama-135m", "rl", "lora", 8, 32, 32, 8, "adamw", false, 2383],
    ["llama-135m", "rl", "full", 8, 32, 32, 8, "adamw", false, 3665],
    ["llama-135m", "rl", "lora", 8, 32, 224, 8, "adamw", false, 4658],
  ];

function spec(changes: Partial<RunSpecInput> = {}): EstimatedSpec {
  return runSpec.parse({
    kind: "rl",
    model: { name: "m" },
    dataset: { sha256: SHA, rows: 3 },
    rewards: { code: { sha256: SHA } },
    algorithm: { kind: "grpo" },
    trainer: { steps: 10 },
    ...changes,
  });
}

describe("the memory that the embedded engine needs", () => {
  it.each(MEASURED)(
    "is near what %s took: %s %s of %d sequences, %d + %d tokens, %d at a time, %s, %s: %d MiB",
    (...row) => {
      const [
        model,
        work,
        adapter,
        sequences,
        prompt,
        written,
        microBatchSize,
        optimizer,
        reference,
        peakMiB,
      ] = row;
      const shape = SHAPES[model] ?? NANO_SHAPE;
      const isSft = work === "sft";
      const algorithm = isSft
        ? { kind: "sft" as const, batchSize: sequences }
        : { kind: "grpo" as const, klCoef: reference ? 0.1 : 0 };
      const run = spec({
        ...(isSft && { kind: "sft", rewards: undefined }),
        algorithm,
        rollout: { promptsPerStep: sequences / 2, samplesPerPrompt: 2, maxTokens: written },
        adapter: { kind: adapter === "lora" ? "lora" : "full" },
        trainer: { steps: 1, microBatchSize, optimizer },
      });
      // These rows are all as long as each other; stored ones are taken to be half as long again at most.
      const tokens = (isSft ? prompt + written : prompt) / 1.5;
      const parts =
        work === "serve"
          ? servingMemory(shape, { conversations: sequences, tokens: prompt + written })
          : trainingMemory(run, shape, tokens);
      const factor = totalMiB(parts) / peakMiB;
      expect(factor).toBeGreaterThan(1 / 1.35);
      expect(factor).toBeLessThan(1.35);
    },
  );

  it("counts each copy: gradients, what the optimizer remembers, a reference, and the packed weights of an adapter", () => {
    const shape = SHAPES["llama-135m"] ?? NANO_SHAPE;
    const of = (changes: Partial<RunSpecInput>) => trainingMemory(spec(changes), shape, 20);
    const weightsMiB = 513;
    expect(of({}).weights).toBeCloseTo(weightsMiB, 0);
    const onePass = { rollout: { promptsPerStep: 1, samplesPerPrompt: 4 } };
    expect(of(onePass).optimizer).toBeCloseTo(3 * weightsMiB, -1);
    const signs = { ...onePass, trainer: { steps: 1, optimizer: "sign_sgd" as const } };
    expect(of(signs).optimizer).toBeCloseTo(weightsMiB, 0);
    expect(of({ trainer: { steps: 1, microBatchSize: 8 } }).optimizer).toBeCloseTo(4 * weightsMiB, -1);
    expect(of({ algorithm: { kind: "grpo", klCoef: 0.1 } }).weights).toBeCloseTo(2 * weightsMiB, 0);
    expect(of({ adapter: { kind: "lora" } }).weights).toBeCloseTo(2.2 * weightsMiB, 0);
    expect(of({ adapter: { kind: "lora" } }).optimizer).toBeLessThan(weightsMiB / 4);
    expect(of({ kind: "sft", rewards: undefined, algorithm: { kind: "sft" } }).cache).toBe(0);
  });

  it("has no pass of more logits than the engine has", () => {
    const shape = SHAPES["llama-135m"] ?? NANO_SHAPE;
    const pass = (microBatchSize: number) =>
      trainingMemory(spec({ trainer: { steps: 1, microBatchSize } }), shape, 20).pass;
    expect(pass(128)).toBe(pass(4));
    expect(pass(4)).toBeCloseTo(2 * pass(2), 5);
  });

  it("grows with what a pass holds, and never beyond the window", () => {
    const pass = (microBatchSize: number, maxTokens: number) =>
      trainingMemory(spec({ rollout: { maxTokens }, trainer: { steps: 1, microBatchSize } }), NANO_SHAPE, 20)
        .pass;
    expect(pass(64, 256) / pass(32, 256)).toBeCloseTo(2, 5);
    expect(pass(32, 512)).toBeGreaterThan(2 * pass(32, 256));
    expect(pass(32, 2_000)).toBe(pass(32, 1_100));
  });
});

describe("the time that the embedded engine needs", () => {
  it("is that of two passes with an adapter, of three without, and of writing", () => {
    const sft = { kind: "sft", rewards: undefined, algorithm: { kind: "sft" } } as const;
    const of = (changes: Partial<RunSpecInput>, threads = 2) =>
      secondsPerStep(spec(changes), NANO_SHAPE, 100, threads);
    expect(of(sft) / of({ ...sft, adapter: { kind: "lora" } })).toBeCloseTo(1.5, 5);
    expect(of(sft, 1) / of(sft, 2)).toBeCloseTo(2, 5);
    expect(of({ rollout: { maxTokens: 200 } })).toBeGreaterThan(of({ rollout: { maxTokens: 100 } }));
    expect(of({ algorithm: { kind: "grpo", klCoef: 0.1 } })).toBeGreaterThan(of({}));
  });

  it("goes by the length of the rows", () => {
    expect(rowTokens({ rows: 10, bytes: 5_000 })).toBe(100);
  });
});
