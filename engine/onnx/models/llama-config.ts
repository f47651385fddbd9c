import { join } from "node:path";
import * as z from "zod/mini";
import { describeIssue } from "../../../sdk/schema/describe-issue.ts";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { readModelText } from "../weights/model-file.ts";

/** A Llama the embedded engine can run, in its own words. */
export interface LlamaConfig {
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
  max_position_embeddings: z._default(sizeUpTo(2 ** 20), 2048),
  rms_norm_eps: z._default(z.number().check(z.positive()), 1e-6),
  rope_theta: z.nullish(z.number().check(z.positive())),
  rope_scaling: z.nullish(z.looseObject({})),
  rope_parameters: z.nullish(
    z.looseObject({
      rope_theta: z.optional(z.number().check(z.positive())),
      rope_type: z.optional(z.string()),
    }),
  ),
  tie_word_embeddings: z._default(z.boolean(), false),
  hidden_act: z._default(z.string(), "silu"),
  attention_bias: z._default(z.boolean(), false),
  mlp_bias: z._default(z.boolean(), false),
  rope_interleaved: z._default(z.boolean(), false),
  quantization_config: z.nullish(z.unknown()),
});

type HfConfig = z.infer<typeof hfConfig>;

/**
 * Reads `config.json` of a model folder.
 *
 * @throws SpotterError `model_not_found` without the file, `model_corrupt` where it is damaged,
 *   `model_unsupported` where it describes a model this engine cannot run; each names file and key.
 */
export async function loadLlamaConfig(modelDir: string): Promise<LlamaConfig> {
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
  if (modelType.success && modelType.data.model_type !== "llama") {
    throw unsupported(file, "model_type", `is ${JSON.stringify(modelType.data.model_type)}, not "llama"`);
  }
  const parsed = z.safeParse(hfConfig, json, { reportInput: true });
  if (!parsed.success) {
    const findings = parsed.error.issues
      .flatMap((issue) => describeIssue(issue, () => []))
      .map(({ path, message }) => `${path || "(top level)"}: ${message}`);
    throw corrupt(file, findings.join("; "));
  }
  const hf = parsed.data;
  refuseUnknownArithmetic(hf, file);
  const headSize = hf.head_dim ?? hf.hidden_size / hf.num_attention_heads;
  const keyValueHeads = hf.num_key_value_heads ?? hf.num_attention_heads;
  // The attention kernel of decoding takes no other.
  if (headSize % 16 !== 0) {
    throw unsupported(file, "head_dim", `comes out as ${headSize}, and must be a multiple of 16`);
  }
  if (hf.num_attention_heads % keyValueHeads !== 0) {
    throw unsupported(file, "num_key_value_heads", `does not divide num_attention_heads`);
  }
  return {
    vocabularySize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    layers: hf.num_hidden_layers,
    heads: hf.num_attention_heads,
    keyValueHeads,
    headSize,
    feedForwardSize: hf.intermediate_size,
    maxPositions: hf.max_position_embeddings,
    normEpsilon: hf.rms_norm_eps,
    ropeTheta: hf.rope_parameters?.rope_theta ?? hf.rope_theta ?? 10_000,
    tiedEmbeddings: hf.tie_word_embeddings,
  };
}

/** The `config.json` Transformers reads the same model from. */
export function toHfConfig(config: LlamaConfig): Record<string, unknown> {
  return {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
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
    rope_scaling: null,
    tie_word_embeddings: config.tiedEmbeddings,
    hidden_act: "silu",
    attention_bias: false,
    mlp_bias: false,
  };
}

/** A key that changes the arithmetic and is not implemented must stop us: ignoring it gives wrong text. */
function refuseUnknownArithmetic(hf: HfConfig, file: string): void {
  if (hf.hidden_act !== "silu") throw unsupported(file, "hidden_act", `is ${JSON.stringify(hf.hidden_act)}`);
  if (hf.attention_bias) throw unsupported(file, "attention_bias", "is true");
  if (hf.mlp_bias) throw unsupported(file, "mlp_bias", "is true");
  if (hf.rope_interleaved) throw unsupported(file, "rope_interleaved", "is true");
  if (hf.quantization_config) throw unsupported(file, "quantization_config", "is set");
  const scaling = hf.rope_scaling?.rope_type ?? hf.rope_scaling?.type ?? "default";
  if (scaling !== "default") throw unsupported(file, "rope_scaling", `is of type ${JSON.stringify(scaling)}`);
  const type = hf.rope_parameters?.rope_type ?? "default";
  if (type !== "default") throw unsupported(file, "rope_parameters.rope_type", `is ${JSON.stringify(type)}`);
}

function unsupported(file: string, key: string, what: string): SpotterError {
  return new SpotterError("model_unsupported", `The embedded engine cannot run this model: ${key} ${what}.`, {
    where: `${file}: ${key}`,
    hint: "Use a Llama model (SmolLM, TinyLlama, Llama 2), or a GPU engine for this one.",
  });
}

function corrupt(file: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("model_corrupt", `${file}: ${what}.`, {
    where: file,
    hint: "Download the model again.",
    cause,
  });
}
