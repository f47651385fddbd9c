import { execFileSync } from "node:child_process";
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
      family: "llama",
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
    [{ model_type: "mistral" }, "model_type"],
    [{ hidden_act: "gelu" }, "hidden_act"],
    [{ attention_bias: true }, "attention_bias"],
    [{ mlp_bias: true }, "mlp_bias"],
    [{ rope_scaling: { type: "linear", factor: 2 } }, "rope_scaling.type"],
    [{ rope_scaling: { rope_type: "dynamic", factor: 2 } }, "rope_scaling.rope_type"],
    [{ rope_parameters: { partial_rotary_factor: 0.5 } }, "rope_parameters.partial_rotary_factor"],
    [{ rope_parameters: { rope_type: "yarn" } }, "rope_parameters.rope_type"],
    [{ rope_interleaved: true }, "rope_interleaved"],
    [{ head_dim: 40 }, "head_dim"],
    [{ num_key_value_heads: 2 }, "num_key_value_heads"],
    [{ use_sliding_window: true }, "use_sliding_window"],
    [{ layer_types: ["full_attention", "sliding_attention"] }, "layer_types"],
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

  it.each([
    [{ vocab_size: 2 ** 40 }, "vocab_size: must be at most 2097152, is 1099511627776"],
    [{ hidden_size: 65_552 }, "hidden_size: must be at most 65536, is 65552"],
    [{ num_hidden_layers: 1e9 }, "num_hidden_layers: must be at most 1000, is 1000000000"],
    [{ num_attention_heads: 2048 }, "num_attention_heads: must be at most 1024, is 2048"],
    [{ max_position_embeddings: 1e12 }, "max_position_embeddings: must be at most 1048576"],
    [{ rms_norm_eps: "1e-5" }, "rms_norm_eps: is a string, expected number"],
    [{ vocab_size: undefined }, "vocab_size: missing, expected number"],
    [{ num_hidden_layers: 1.5 }, "num_hidden_layers: must be a whole number, is 1.5"],
  ])("%j is refused in words", async (change, words) => {
    await expectError(() => parseLlamaConfig({ ...smolLm, ...change }), "model_corrupt", words);
  });

  it("has to be a regular file", { timeout: 5_000 }, async () => {
    await using folder = await temporaryFolder();
    execFileSync("mkfifo", [join(folder.path, "config.json")]);
    await expectError(() => loadLlamaConfig(folder.path), "model_corrupt", "no regular file");
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
