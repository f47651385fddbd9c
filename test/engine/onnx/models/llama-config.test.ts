import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  loadLlamaConfig,
  parseLlamaConfig,
  toHfConfig,
} from "../../../../engine/onnx/models/llama-config.ts";
import { expectError } from "../support/errors.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyConfig } from "../support/tiny.ts";

/** As the hub has it for HuggingFaceTB/SmolLM2-135M. */
const smolLm = {
  architectures: ["LlamaForCausalLM"],
  attention_bias: false,
  attention_dropout: 0.0,
  bos_token_id: 0,
  eos_token_id: 0,
  hidden_act: "silu",
  hidden_size: 576,
  initializer_range: 0.041666666666666664,
  intermediate_size: 1536,
  is_llama_config: true,
  max_position_embeddings: 8192,
  model_type: "llama",
  num_attention_heads: 9,
  num_hidden_layers: 30,
  num_key_value_heads: 3,
  pretraining_tp: 1,
  rms_norm_eps: 1e-5,
  rope_interleaved: false,
  rope_scaling: null,
  rope_theta: 100000,
  tie_word_embeddings: true,
  torch_dtype: "bfloat16",
  use_cache: true,
  vocab_size: 49152,
};

describe("config.json", () => {
  it("of SmolLM2-135M is read", () => {
    expect(parseLlamaConfig(smolLm)).toEqual({
      vocabularySize: 49152,
      hiddenSize: 576,
      layers: 30,
      heads: 9,
      keyValueHeads: 3,
      headSize: 64,
      feedForwardSize: 1536,
      maxPositions: 8192,
      normEpsilon: 1e-5,
      ropeTheta: 100000,
      tiedEmbeddings: true,
    });
  });

  it("round-trips what the engine writes", () => {
    expect(parseLlamaConfig(toHfConfig(tinyConfig))).toEqual(tinyConfig);
  });

  it("takes the rotary base from rope_parameters, where newer files have it", () => {
    const newer = {
      ...smolLm,
      rope_theta: undefined,
      rope_parameters: { rope_type: "default", rope_theta: 5e5 },
    };
    expect(parseLlamaConfig(newer).ropeTheta).toBe(5e5);
  });

  it.each([
    [{ model_type: "qwen2" }, "model_type"],
    [{ hidden_act: "gelu" }, "hidden_act"],
    [{ attention_bias: true }, "attention_bias"],
    [{ mlp_bias: true }, "mlp_bias"],
    [{ rope_scaling: { rope_type: "llama3", factor: 8 } }, "rope_scaling"],
    [{ rope_scaling: { type: "linear", factor: 2 } }, "rope_scaling"],
    [{ rope_parameters: { rope_type: "yarn" } }, "rope_parameters.rope_type"],
    [{ rope_interleaved: true }, "rope_interleaved"],
    [{ head_dim: 40 }, "head_dim"],
    [{ num_key_value_heads: 2 }, "num_key_value_heads"],
    [{ quantization_config: { quant_method: "gptq" } }, "quantization_config"],
  ])("%j is refused by its key", async (change, key) => {
    await expectError(
      () => parseLlamaConfig({ ...smolLm, ...change }, "m/config.json"),
      "model_unsupported",
      `m/config.json: ${key}`,
    );
  });

  it("names every key that is missing or of a wrong type", async () => {
    const wrong = { ...smolLm, vocab_size: "many", hidden_size: undefined, num_hidden_layers: 0 };
    await expectError(
      () => parseLlamaConfig(wrong),
      "model_corrupt",
      "vocab_size",
      "hidden_size",
      "num_hidden_layers",
    );
    await expectError(() => parseLlamaConfig([]), "model_corrupt", "config.json");
  });

  it("has to be there and be JSON", async () => {
    await using folder = await temporaryFolder();
    await expectError(() => loadLlamaConfig(folder.path), "model_not_found", folder.path);
    const dir = join(folder.path, "m");
    await mkdir(dir);
    await writeFile(join(dir, "config.json"), "{");
    await expectError(() => loadLlamaConfig(dir), "model_corrupt", "config.json");
  });
});
