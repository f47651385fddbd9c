import type { LlamaConfig } from "../../models/llama-config.ts";
import { scaleFrequency } from "../../models/rope-scaling.ts";
import { ggufTensorName, ROPE_FACTORS } from "./names.ts";
import type { WrittenType } from "./quantize.ts";
import { isInterleaved, toPairs } from "./rotary-order.ts";
import { BLOCK_FORMATS } from "./types.ts";
import type { GgufTensorSource, GgufValue } from "./write-gguf.ts";

/** `general.file_type` */
const FILE_TYPE: Readonly<Record<WrittenType, number>> = { F32: 0, F16: 1, Q8_0: 7, BF16: 32 };

/** A model as a GGUF file holds it, without its tokenizer. */
export function ggufFileOf(
  config: LlamaConfig,
  tensors: readonly { name: string; shape: readonly number[]; read: () => Promise<Float32Array> }[],
  { name, type }: { name: string; type: WrittenType },
): { metadata: Map<string, GgufValue>; tensors: GgufTensorSource[] } {
  return {
    metadata: modelMetadata(config, name, type),
    tensors: [...tensors.map((tensor) => asGguf(config, tensor, type)), ...ropeFactors(config)],
  };
}

function modelMetadata(config: LlamaConfig, name: string, type: WrittenType): Map<string, GgufValue> {
  const { family } = config;
  const count = (key: string, value: number): [string, GgufValue] => [
    `${family}.${key}`,
    { type: "uint32", value },
  ];
  const real = (key: string, value: number): [string, GgufValue] => [
    `${family}.${key}`,
    { type: "float32", value },
  ];
  return new Map<string, GgufValue>([
    ["general.architecture", { type: "string", value: family }],
    ["general.type", { type: "string", value: "model" }],
    ["general.name", { type: "string", value: name }],
    ["general.file_type", { type: "uint32", value: FILE_TYPE[type] }],
    ["general.quantization_version", { type: "uint32", value: 2 }],
    count("block_count", config.layers),
    count("context_length", config.maxPositions),
    count("embedding_length", config.hiddenSize),
    count("feed_forward_length", config.feedForwardSize),
    count("attention.head_count", config.heads),
    count("attention.head_count_kv", config.keyValueHeads),
    count("attention.key_length", config.headSize),
    count("attention.value_length", config.headSize),
    count("rope.dimension_count", config.headSize),
    count("vocab_size", config.vocabularySize),
    real("attention.layer_norm_rms_epsilon", config.normEpsilon),
    real("rope.freq_base", config.ropeTheta),
  ]);
}

function asGguf(
  config: LlamaConfig,
  { name, shape, read }: { name: string; shape: readonly number[]; read: () => Promise<Float32Array> },
  type: WrittenType,
): GgufTensorSource {
  const known = ggufTensorName(name);
  if (known === undefined) throw new RangeError(`No GGUF name for ${name}`);
  const [, width = 1] = shape;
  const ordered = async (): Promise<Float32Array> => {
    const data = await read();
    return isInterleaved(config.family, name) ? toPairs(data, config.headSize, width) : data;
  };
  return { name: known, shape, type: storedType(shape, type), read: ordered };
}

/** Vectors are few and matter: they stay as they are. Rows that are no whole blocks are kept in half precision. */
function storedType(shape: readonly number[], type: WrittenType): WrittenType {
  const [, width] = shape;
  if (width === undefined) return "F32";
  return width % BLOCK_FORMATS[type].elements === 0 ? type : "F16";
}

function ropeFactors({ ropeScaling, ropeTheta, headSize }: LlamaConfig): GgufTensorSource[] {
  if (ropeScaling === undefined) return [];
  const factors = Float32Array.from({ length: headSize / 2 }, (_, pair) => {
    const frequency = ropeTheta ** ((-2 * pair) / headSize);
    return frequency / scaleFrequency(frequency, ropeScaling);
  });
  const read = (): Promise<Float32Array> => Promise.resolve(factors);
  return [{ name: ROPE_FACTORS, shape: [factors.length], type: "F32", read }];
}
