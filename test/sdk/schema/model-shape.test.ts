import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { adapterParametersOf, NANO_SHAPE, parametersOf, shapeOf } from "../../../sdk/schema/model-shape.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 49_152,
  hidden_size: 576,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  intermediate_size: 1_536,
  max_position_embeddings: 2_048,
  tie_word_embeddings: true,
};

describe("the shape of a model", () => {
  it("of the package is the one that its files have", () => {
    const file = join(import.meta.dirname, "../../../engine/models/nano/config.json");
    expect(shapeOf(JSON.parse(readFileSync(file, "utf8")))).toEqual(NANO_SHAPE);
  });

  it("tells the weights of SmolLM2-135M and Qwen3-0.6B, and of an adapter", () => {
    const smol = shapeOf(CONFIG) ?? NANO_SHAPE;
    // 134,515,008 with its norms.
    expect(parametersOf(smol)).toBe(134_479_872);
    expect(adapterParametersOf(smol, 8, ["q_proj", "v_proj"])).toBe(30 * 8 * (576 + 576 + 192 + 576));
    const qwen = shapeOf({ ...CONFIG, ...QWEN3 }) ?? NANO_SHAPE;
    expect(qwen.headSize).toBe(128);
    expect(parametersOf(qwen) / 1e6).toBeCloseTo(595.98, 1);
    expect(parametersOf({ ...qwen, tiedEmbeddings: false }) - parametersOf(qwen)).toBe(151_936 * 1_024);
  });

  it("is unknown where the file is something else", () => {
    for (const other of [undefined, null, "x", {}, { ...CONFIG, hidden_size: "576" }])
      expect(shapeOf(other)).toBeUndefined();
  });
});

const QWEN3 = {
  model_type: "qwen3",
  vocab_size: 151_936,
  hidden_size: 1_024,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  intermediate_size: 3_072,
};
