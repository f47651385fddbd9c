import { describe, expect, it } from "vitest";
import { parseLlamaConfig, toHfConfig } from "../../../../engine/onnx/models/llama-config.ts";
import { llamaParameters } from "../../../../engine/onnx/models/llama-parameters.ts";
import { scaleFrequency } from "../../../../engine/onnx/models/rope-scaling.ts";
import { expectError } from "../support/errors.ts";

/** As the hub has it for Qwen/Qwen2.5-0.5B-Instruct. */
const qwen2 = {
  architectures: ["Qwen2ForCausalLM"],
  hidden_act: "silu",
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  model_type: "qwen2",
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000.0,
  sliding_window: 32768,
  tie_word_embeddings: true,
  torch_dtype: "bfloat16",
  use_sliding_window: false,
  vocab_size: 151936,
};

/** As the hub has it for Qwen/Qwen3-0.6B. */
const qwen3 = {
  architectures: ["Qwen3ForCausalLM"],
  attention_bias: false,
  head_dim: 128,
  hidden_act: "silu",
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  max_window_layers: 28,
  model_type: "qwen3",
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: null,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
};

/** As the hub has it for meta-llama/Llama-3.2-1B-Instruct. */
const llama3 = {
  architectures: ["LlamaForCausalLM"],
  attention_bias: false,
  head_dim: 64,
  hidden_act: "silu",
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  mlp_bias: false,
  model_type: "llama",
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32.0,
    high_freq_factor: 4.0,
    low_freq_factor: 1.0,
    original_max_position_embeddings: 8192,
    rope_type: "llama3",
  },
  rope_theta: 500000.0,
  tie_word_embeddings: true,
  vocab_size: 128256,
};
const scaling = { factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 };

describe("config.json of another family", () => {
  it("Qwen2.5 is read, and its window that is not used is no reason to refuse it", () => {
    const config = parseLlamaConfig(qwen2);
    expect(config).toMatchObject({ family: "qwen2", headSize: 64, keyValueHeads: 2, ropeTheta: 1e6 });
    expect(config).not.toHaveProperty("ropeScaling");
  });

  it("Qwen3 is read, with heads wider than the model divided by them", () => {
    const config = parseLlamaConfig(qwen3);
    expect(config).toMatchObject({ family: "qwen3", headSize: 128, heads: 16, maxPositions: 40960 });
  });

  it("Llama 3.2 is read with how it stretches positions, from the older key and the newer one", () => {
    const config = parseLlamaConfig(llama3);
    expect(config).toMatchObject({ family: "llama", ropeTheta: 5e5, ropeScaling: scaling });
    const { rope_scaling: older, rope_theta: base, ...rest } = llama3;
    expect(parseLlamaConfig({ ...rest, rope_parameters: { ...older, rope_theta: base } })).toEqual(config);
  });

  it.each([
    ["qwen2", qwen2],
    ["qwen3", qwen3],
    ["llama3", llama3],
  ])("%s round-trips through what the engine writes", (_name, json) => {
    const config = parseLlamaConfig(json);
    expect(parseLlamaConfig(JSON.parse(JSON.stringify(toHfConfig(config))))).toEqual(config);
  });

  it("has what Transformers takes for keys that are left out", () => {
    const { head_dim: _size, num_key_value_heads: _heads, max_position_embeddings: _max, ...bare } = qwen3;
    const config = parseLlamaConfig({ ...bare, num_attention_heads: 64 });
    expect(config).toMatchObject({ headSize: 128, keyValueHeads: 32, maxPositions: 32768 });
    const none = parseLlamaConfig({ ...bare, num_key_value_heads: null });
    expect(none.keyValueHeads).toBe(16);
  });

  it.each([
    [qwen2, { model_type: "qwen2_moe" }, "model_type", "a mixture of experts"],
    [qwen2, { model_type: "qwen3_next" }, "model_type", "none of llama, qwen2, qwen3"],
    [qwen2, { use_sliding_window: true }, "use_sliding_window", "is true"],
    [qwen3, { layer_types: ["sliding_attention"] }, "layer_types", '"sliding_attention"'],
    [qwen3, { attention_bias: true }, "attention_bias", "is true"],
    [qwen3, { hidden_act: "gelu" }, "hidden_act", '"gelu", not "silu"'],
    [qwen2, { rope_scaling: { type: "yarn", factor: 4 } }, "rope_scaling.type", '"yarn"'],
    [qwen3, { rope_scaling: { rope_type: "dynamic", factor: 4 } }, "rope_scaling.rope_type", '"dynamic"'],
    [llama3, { rope_scaling: { rope_type: "linear", factor: 4 } }, "rope_scaling.rope_type", '"linear"'],
  ])("%# is refused by key and reason", async (model, change, key, reason) => {
    const parse = (): unknown => parseLlamaConfig({ ...model, ...change }, "m/config.json");
    await expectError(parse, "model_unsupported", `m/config.json: ${key}`, reason);
  });

  it("whose stretching lacks numbers is refused with all of them", async () => {
    const parse = (rope_scaling: object) => () => parseLlamaConfig({ ...llama3, rope_scaling });
    await expectError(
      parse({ rope_type: "llama3", factor: 0 }),
      "model_corrupt",
      "rope_scaling.factor",
      "rope_scaling.low_freq_factor: missing",
      "rope_scaling.high_freq_factor: missing",
      "rope_scaling.original_max_position_embeddings: missing",
    );
    const flat = parse({ ...llama3.rope_scaling, high_freq_factor: 1 });
    await expectError(flat, "model_corrupt", "rope_scaling.high_freq_factor: must be above");
  });
});

describe("parameters", () => {
  const names = (json: object): string[] =>
    llamaParameters(parseLlamaConfig(json)).flatMap(({ parts }) => parts.map(({ name }) => name));

  it("are a family's own and no other's", () => {
    const layer = "model.layers.3.self_attn.";
    expect(names(qwen2)).toEqual(
      expect.arrayContaining([`${layer}q_proj.bias`, `${layer}k_proj.bias`, `${layer}v_proj.bias`]),
    );
    expect(names(qwen2)).not.toContain(`${layer}o_proj.bias`);
    expect(names(qwen3)).toEqual(expect.arrayContaining([`${layer}q_norm.weight`, `${layer}k_norm.weight`]));
    expect(names(llama3).filter((name) => /bias|q_norm|k_norm/.test(name))).toEqual([]);
  });
});

describe("the angle from one position to the next", () => {
  const full = (turns: number): number => (turns * 2 * Math.PI) / 8192;

  it.each([
    [0.5, 1 / 32],
    [1, 1 / 32],
    [2.5, (1 + 1 / 32) / 2],
    [4, 1],
    [100, 1],
  ])("of a pair that turns %d times in the original positions is %d of it", (turns, share) => {
    expect(scaleFrequency(full(turns), scaling) / full(turns)).toBeCloseTo(share, 12);
  });
});
