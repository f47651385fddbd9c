import { scaleFrequency, toHfRopeScaling } from "../../models/rope-scaling.ts";
import { ggufCorrupt, ggufUnsupported } from "./errors.ts";
import { findGguf } from "./find-gguf.ts";
import { GgufFile } from "./gguf-file.ts";
import { GGUF_EMBEDDING, GGUF_HEAD, hfTensorName, ROPE_FACTORS } from "./names.ts";

/** `general.architecture` of the files that are read: by that name a family is known to Hugging Face as well. */
export const GGUF_ARCHITECTURES = ["llama", "qwen2", "qwen3"] as const;

/** What a file of these architectures must say. */
const REQUIRED = [
  "block_count",
  "embedding_length",
  "feed_forward_length",
  "attention.head_count",
  "attention.layer_norm_rms_epsilon",
] as const;

const MAX_HEAD_SIZE = 1024;

/** @throws SpotterError `model_unsupported` for any but {@link GGUF_ARCHITECTURES}. */
export function architectureOf({ metadata, path }: Pick<GgufFile, "metadata" | "path">): string {
  const key = "general.architecture";
  const name = metadata.text(key);
  if (name === undefined) throw ggufCorrupt(path, `has no ${key}`, key);
  if (GGUF_ARCHITECTURES.some((known) => known === name)) return name;
  const hint = `Use a model of the architecture ${GGUF_ARCHITECTURES.join(", ")}.`;
  throw ggufUnsupported(path, `${key} is ${JSON.stringify(name)}`, key, hint);
}

/** Rows of one head, which positions turn. */
export function headSizeOf(file: GgufFile): number {
  const architecture = architectureOf(file);
  const number = (key: string): number | undefined => file.metadata.number(`${architecture}.${key}`);
  const heads = number("attention.head_count") ?? 1;
  const size = number("attention.key_length") ?? (number("embedding_length") ?? 0) / heads;
  if (Number.isInteger(size) && size % 2 === 0 && size > 0 && size <= MAX_HEAD_SIZE) return size;
  const key = `${architecture}.attention.head_count`;
  throw ggufCorrupt(file.path, `: ${heads} heads of ${size} rows each cannot be`, key);
}

/**
 * The `config.json` that says the same as the metadata of a file. What it holds is checked where that is read.
 *
 * @throws SpotterError `model_corrupt` without a key it needs, `model_unsupported` for arithmetic that no
 *   model of ours does.
 */
export async function hfConfigOf(file: GgufFile): Promise<Record<string, unknown>> {
  const architecture = architectureOf(file);
  const { metadata, path } = file;
  const number = (key: string): number | undefined => metadata.number(`${architecture}.${key}`);
  const lacking = REQUIRED.find((key) => number(key) === undefined);
  if (lacking !== undefined)
    throw ggufCorrupt(path, `has no ${architecture}.${lacking}`, `${architecture}.${lacking}`);
  const embedding = file.tensors.get(GGUF_EMBEDDING);
  if (embedding === undefined) throw ggufCorrupt(path, `has no tensor ${GGUF_EMBEDDING}`, GGUF_EMBEDDING);
  refuseUnknownArithmetic(file, architecture);
  const headSize = headSizeOf(file);
  const theta = number("rope.freq_base") ?? 10_000;
  return {
    model_type: architecture,
    vocab_size: embedding.shape[0],
    hidden_size: number("embedding_length"),
    num_hidden_layers: number("block_count"),
    num_attention_heads: number("attention.head_count"),
    num_key_value_heads: number("attention.head_count_kv") ?? null,
    head_dim: headSize,
    intermediate_size: number("feed_forward_length"),
    max_position_embeddings: number("context_length"),
    rms_norm_eps: number("attention.layer_norm_rms_epsilon"),
    rope_theta: theta,
    rope_scaling: await ropeScalingOf(file, theta, headSize),
    tie_word_embeddings: !file.tensors.has(GGUF_HEAD),
  };
}

/** {@link hfConfigOf} the file that a place of a model is or holds; undefined where it is no GGUF file. */
export async function readGgufConfig(
  place: string,
): Promise<{ path: string; config: Record<string, unknown> } | undefined> {
  const path = await findGguf(place);
  if (path === undefined) return undefined;
  const file = await GgufFile.open(path);
  try {
    return { path, config: await hfConfigOf(file) };
  } finally {
    await file.close();
  }
}

/** A key or tensor that changes the arithmetic and is not known must stop us: ignoring it gives wrong text. */
function refuseUnknownArithmetic(file: GgufFile, architecture: string): void {
  const { metadata, path } = file;
  const refuse = (key: string, what: string): never => {
    throw ggufUnsupported(path, `${key} ${what}`, key, "Use a plain model of this architecture.");
  };
  const experts = `${architecture}.expert_count`;
  if ((metadata.number(experts) ?? 0) > 0) refuse(experts, "says that it is a mixture of experts");
  const scaling = `${architecture}.rope.scaling.type`;
  const type = metadata.text(scaling) ?? "none";
  if (type !== "none") refuse(scaling, `is ${JSON.stringify(type)}`);
  const turned = `${architecture}.rope.dimension_count`;
  const dimensions = metadata.number(turned);
  if (dimensions !== undefined && dimensions !== headSizeOf(file)) {
    refuse(turned, `is ${dimensions}, and a head has ${headSizeOf(file)} rows`);
  }
  const odd = [...file.tensors.keys()].find((name) => name !== ROPE_FACTORS && !isKnown(architecture, name));
  if (odd !== undefined) refuse(odd, `is a tensor that no ${architecture} of ours has`);
}

function isKnown(architecture: string, name: string): boolean {
  if (hfTensorName(name) === undefined) return false;
  if (name.endsWith(".bias")) return architecture === "qwen2" && /\.attn_[qkv]\.bias$/.test(name);
  return architecture === "qwen3" || !/\.attn_[qk]_norm\.weight$/.test(name);
}

/** All Llamas that stretch positions so far; files hold only the factors that come of it. */
const LLAMA3 = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 };

async function ropeScalingOf(
  file: GgufFile,
  theta: number,
  headSize: number,
): Promise<Record<string, unknown> | null> {
  if (!file.tensors.has(ROPE_FACTORS)) return null;
  const factors = new Float32Array(headSize / 2);
  await file.readInto(ROPE_FACTORS, factors);
  const scaling = { ...LLAMA3, factor: Math.max(...factors) };
  const isLlama3 = factors.every((factor, pair) => {
    const frequency = theta ** ((-2 * pair) / headSize);
    return Math.abs(frequency / scaleFrequency(frequency, scaling) / factor - 1) < 1e-4;
  });
  if (isLlama3) return toHfRopeScaling(scaling);
  const what = `${ROPE_FACTORS} stretches positions in another way than Llama 3.1 to 3.3`;
  throw ggufUnsupported(file.path, what, ROPE_FACTORS, "Use the model's safetensors.");
}
