import { describe, expect, it } from "vitest";
import { randomAdapter, randomPolicy } from "../../../../engine/onnx/train/init.ts";
import { tinyConfig } from "../support/tiny.ts";

const config = {
  ...tinyConfig,
  hiddenSize: 128,
  feedForwardSize: 256,
  vocabularySize: 200,
  tiedEmbeddings: false,
};

describe("random weights", () => {
  it("have the deviation each kind wants", () => {
    const { parameters } = randomPolicy(config, 1);
    expect(deviation(parameters.get("model.embed_tokens.weight").data)).toBeCloseTo(0.02, 3);
    expect(deviation(parameters.get("lm_head.weight").data)).toBeCloseTo(0.02, 3);
    const layer = "model.layers.0";
    expect(deviation(parameters.get(`${layer}.self_attn.qkv_proj.weight`).data)).toBeCloseTo(128 ** -0.5, 2);
    expect(deviation(parameters.get(`${layer}.self_attn.o_proj.weight`).data)).toBeCloseTo(64 ** -0.5 / 2, 2);
    expect(deviation(parameters.get(`${layer}.mlp.down_proj.weight`).data)).toBeCloseTo(256 ** -0.5 / 2, 2);
    expect(parameters.get("model.norm.weight").data.every((weight) => weight === 1)).toBe(true);
  });

  it("have no bias yet", () => {
    const { parameters } = randomPolicy({ ...config, family: "qwen2" }, 1);
    expect(parameters.get("model.layers.0.self_attn.qkv_proj.bias").data).toEqual(new Float32Array(128));
  });

  it("are a function of the seed", () => {
    const first = (seed: number): number[] => [
      ...randomPolicy(tinyConfig, seed).parameters.get("model.embed_tokens.weight").data.subarray(0, 8),
    ];
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
  });

  it("of an adapter leave the model as it is: B is zero, A within 1/sqrt(inputs)", () => {
    const adapter = randomAdapter(config, { rank: 4, alpha: 8, targets: ["q_proj", "down_proj"] }, 1);
    for (const { name, data, shape } of adapter.parameters) {
      const bound = 1 / Math.sqrt(shape[1] ?? NaN);
      const largest = data.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
      if (name.includes("lora_B")) expect(largest, name).toBe(0);
      else expect(largest / bound, name).toBeGreaterThan(0.9);
      expect(largest, name).toBeLessThanOrEqual(bound);
    }
  });
});

function deviation(data: Float32Array): number {
  return Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
}
