import { join } from "node:path";
import * as z from "zod/mini";
import { DESCRIBED } from "../../../sdk/schema/describe-issue.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { readGgufConfig } from "../weights/gguf/hf-config.ts";
import { readModelText } from "../weights/model-file.ts";
import { corrupt, corruptKeys, unsupported } from "./config-errors.ts";
import { FAMILIES, familyOf, type ModelFamily } from "./families.ts";
import { parseRopeScaling, ropeSchema, toHfRopeScaling, type RopeScaling } from "./rope-scaling.ts";

/** A Llama, or a model of a family that grew from it, that the embedded engine can run, in its own words. */
export interface LlamaConfig {
  family: ModelFamily;
  vocabularySize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  keyValueHeads: number;
  headSize: number;
  feedForwardSize: number;
  /** Longest sequence the model was made for. */
  maxPositions: number;
  normEpsilon: number;
  ropeTheta: number;
  /** Absent: positions are not stretched. */
  ropeScaling?: RopeScaling;
  /** The output embedding is the input embedding. */
  tiedEmbeddings: boolean;
}

/** Well above every Llama there is: what is larger is damage, and would be allocated for hours. */
const sizeUpTo = (max: number) => z.int().check(z.positive(), z.lte(max));

/** The parts of a Hugging Face `config.json` that decide what is computed; other keys are not ours. */
const hfConfig = z.object({
  model_type: z.string(),
  vocab_size: sizeUpTo(2 ** 21),
  hidden_size: sizeUpTo(65_536),
  num_hidden_layers: sizeUpTo(1_000),
  num_attention_heads: sizeUpTo(1_024),
  num_key_value_heads: z.nullish(sizeUpTo(1_024)),
  head_dim: z.nullish(sizeUpTo(1_024)),
  intermediate_size: sizeUpTo(2 ** 18),
  max_position_embeddings: z.optional(sizeUpTo(2 ** 20)),
  rms_norm_eps: z._default(z.number().check(z.positive()), 1e-6),
  rope_theta: z.nullish(z.number().check(z.positive())),
  rope_scaling: z.nullish(ropeSchema),
  rope_parameters: z.nullish(ropeSchema),
  tie_word_embeddings: z._default(z.boolean(), false),
  hidden_act: z._default(z.string(), "silu"),
  attention_bias: z._default(z.boolean(), false),
  mlp_bias: z._default(z.boolean(), false),
  rope_interleaved: z._default(z.boolean(), false),
  use_sliding_window: z._default(z.boolean(), false),
  layer_types: z.nullish(z.array(z.string())),
  quantization_config: z.nullish(z.unknown()),
});

type HfConfig = z.infer<typeof hfConfig>;

/**
 * Reads `config.json` of a model folder, or what a GGUF file says instead.
 *
 * @throws SpotterError `model_not_found` without the file, `model_corrupt` where it is damaged,
 *   `model_unsupported` where it describes a model this engine cannot run; each names file and key.
 */
export async function loadLlamaConfig(modelDir: string): Promise<LlamaConfig> {
  const gguf = await readGgufConfig(modelDir);
  if (gguf !== undefined) return parseLlamaConfig(gguf.config, gguf.path);
  const file = join(modelDir, "config.json");
  const text = await readModelText(file).catch((cause: unknown) => {
    if (SpotterError.is(cause)) throw cause;
    throw new SpotterError("model_not_found", `No model in ${modelDir}: config.json cannot be read.`, {
      where: file,
      hint: "Give a folder with config.json, model.safetensors and tokenizer.json.",
      cause,
    });
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw corrupt(file, "is not JSON", cause);
  }
  return parseLlamaConfig(json, file);
}

/** As {@link loadLlamaConfig}, from parsed JSON; `file` is what errors name. */
export function parseLlamaConfig(json: unknown, file = "config.json"): LlamaConfig {
  const modelType = z.safeParse(z.looseObject({ model_type: z.string() }), json);
  const family = modelType.success ? knownFamily(modelType.data.model_type, file) : "llama";
  const parsed = z.safeParse(hfConfig, json, DESCRIBED);
  if (!parsed.success) throw corruptKeys(file, parsed.error);
  const hf = parsed.data;
  refuseUnknownArithmetic(hf, family, file);
  const traits = FAMILIES[family];
  const heads = hf.num_attention_heads;
  const headSize = hf.head_dim ?? traits.headSize ?? hf.hidden_size / heads;
  const keyValueHeads =
    (hf.num_key_value_heads === undefined ? traits.keyValueHeads : hf.num_key_value_heads) ?? heads;
  // Where a file has both, the older key counts, as in Transformers.
  const ropeKey = hf.rope_scaling ? "rope_scaling" : "rope_parameters";
  const rope = hf[ropeKey];
  const ropeScaling = rope ? parseRopeScaling(rope, ropeKey, file) : undefined;
  // The attention kernel of decoding takes no other.
  if (headSize % 16 !== 0) {
    throw unsupported(file, "head_dim", `comes out as ${headSize}, and must be a multiple of 16`);
  }
  if (heads % keyValueHeads !== 0) {
    throw unsupported(file, "num_key_value_heads", `does not divide num_attention_heads`);
  }
  return {
    family,
    vocabularySize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    layers: hf.num_hidden_layers,
    heads,
    keyValueHeads,
    headSize,
    feedForwardSize: hf.intermediate_size,
    maxPositions: hf.max_position_embeddings ?? traits.maxPositions,
    normEpsilon: hf.rms_norm_eps,
    ropeTheta: rope?.rope_theta ?? hf.rope_parameters?.rope_theta ?? hf.rope_theta ?? 10_000,
    ...(ropeScaling === undefined ? {} : { ropeScaling }),
    tiedEmbeddings: hf.tie_word_embeddings,
  };
}

/** The `config.json` Transformers reads the same model from. */
export function toHfConfig(config: LlamaConfig): Record<string, unknown> {
  return {
    architectures: [FAMILIES[config.family].architecture],
    model_type: config.family,
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headSize,
    intermediate_size: config.feedForwardSize,
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    rope_scaling: toHfRopeScaling(config.ropeScaling),
    tie_word_embeddings: config.tiedEmbeddings,
    hidden_act: "silu",
    ...(config.family === "qwen2" ? {} : { attention_bias: false }),
    ...(config.family === "llama" ? { mlp_bias: false } : { use_sliding_window: false }),
  };
}

/** @throws SpotterError `model_unsupported` for any other than {@link FAMILIES}. */
function knownFamily(modelType: string, file: string): ModelFamily {
  const family = familyOf(modelType);
  if (family !== undefined) return family;
  const known = Object.keys(FAMILIES).join(", ");
  const why = /moe|mixtral/i.test(modelType) ? ", a mixture of experts" : "";
  throw unsupported(file, "model_type", `is ${JSON.stringify(modelType)}${why}, and none of ${known}`);
}

/** A key that changes the arithmetic and is not implemented must stop us: ignoring it gives wrong text. */
function refuseUnknownArithmetic(hf: HfConfig, family: ModelFamily, file: string): void {
  if (hf.hidden_act !== "silu") {
    throw unsupported(file, "hidden_act", `is ${JSON.stringify(hf.hidden_act)}, not "silu"`);
  }
  // Qwen2 has its biases whatever this key says; elsewhere it asks for one on o_proj as well.
  if (hf.attention_bias && family !== "qwen2") throw unsupported(file, "attention_bias", "is true");
  if (hf.mlp_bias) throw unsupported(file, "mlp_bias", "is true");
  if (hf.rope_interleaved) throw unsupported(file, "rope_interleaved", "is true");
  // Without this key, a `sliding_window` that Qwen's files have is not used.
  if (hf.use_sliding_window) throw unsupported(file, "use_sliding_window", "is true");
  const layerType = hf.layer_types?.find((type) => type !== "full_attention");
  if (layerType !== undefined) {
    throw unsupported(file, "layer_types", `has ${JSON.stringify(layerType)}, not only "full_attention"`);
  }
  if (hf.quantization_config) throw unsupported(file, "quantization_config", "is set");
}
