import { closeSync, openSync, writeSync } from "node:fs";
import type { Policy } from "../../engine/onnx/models/policy.ts";

const TYPE_U32 = 4;
const TYPE_F32 = 6;
const TYPE_STRING = 8;
const TYPE_ARRAY = 9;
const TYPE_I32 = 5;
const ALIGNMENT = 32;

/**
 * Writes a policy as an F16 GGUF file (version 3) with a made-up vocabulary, so that llama.cpp computes the
 * same model. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function writeGguf(policy: Policy, file: string): void {
  const tensors = policy.parameters.diskTensors().map(({ name, shape, data }) => {
    const rotated = /\.(q|k)_proj\.weight$/.test(name) ? interleaveRotary(policy, shape, data) : data;
    return {
      name: ggufName(name),
      shape,
      bytes: shape.length > 1 ? toF16(rotated) : new Uint8Array(rotated.slice().buffer),
      f16: shape.length > 1,
    };
  });
  let offset = 0;
  const infos = tensors.map(({ name, shape, bytes, f16 }) => {
    const info = concat([
      text(name),
      u32(shape.length),
      ...[...shape].reverse().map(u64),
      u32(f16 ? 1 : 0),
      u64(offset),
    ]);
    offset += padded(bytes.length);
    return info;
  });
  const metadata = keyValues(policy);
  const head = concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(metadata.length),
    ...metadata,
    ...infos,
  ]);
  const out = openSync(file, "w");
  try {
    writePadded(out, head);
    for (const { bytes } of tensors) writePadded(out, bytes);
  } finally {
    closeSync(out);
  }
}

function keyValues({ config }: Policy): Buffer[] {
  const tokens = Array.from(
    { length: config.vocabularySize },
    (_, id) => ["<unk>", "<s>", "</s>", "ab"][id] ?? `tok${id}`,
  );
  for (let code = 33; code < 127; code++) tokens[code] = String.fromCharCode(code);
  const number = (key: string, value: number): Buffer => pair(key, TYPE_U32, u32(value));
  return [
    pair("general.architecture", TYPE_STRING, text("llama")),
    pair("general.name", TYPE_STRING, text("random")),
    number("general.file_type", 1),
    number("llama.context_length", config.maxPositions),
    number("llama.embedding_length", config.hiddenSize),
    number("llama.block_count", config.layers),
    number("llama.feed_forward_length", config.feedForwardSize),
    number("llama.attention.head_count", config.heads),
    number("llama.attention.head_count_kv", config.keyValueHeads),
    number("llama.rope.dimension_count", config.headSize),
    number("llama.vocab_size", config.vocabularySize),
    pair("llama.attention.layer_norm_rms_epsilon", TYPE_F32, f32(config.normEpsilon)),
    pair("llama.rope.freq_base", TYPE_F32, f32(config.ropeTheta)),
    pair("tokenizer.ggml.model", TYPE_STRING, text("gpt2")),
    pair("tokenizer.ggml.pre", TYPE_STRING, text("smollm")),
    pair(
      "tokenizer.ggml.tokens",
      TYPE_ARRAY,
      concat([u32(TYPE_STRING), u64(tokens.length), ...tokens.map(text)]),
    ),
    pair(
      "tokenizer.ggml.token_type",
      TYPE_ARRAY,
      concat([u32(TYPE_I32), u64(tokens.length), ...tokens.map((_, id) => u32(id < 3 ? 3 : 1))]),
    ),
    pair("tokenizer.ggml.merges", TYPE_ARRAY, concat([u32(TYPE_STRING), u64(1), text("a b")])),
    number("tokenizer.ggml.bos_token_id", 1),
    number("tokenizer.ggml.eos_token_id", 2),
  ];
}

/** llama.cpp rotates neighbouring pairs, Hugging Face the two halves of a head: same numbers, other order. */
function interleaveRotary(policy: Policy, shape: readonly number[], data: Float32Array): Float32Array {
  const [rows = 0, columns = 0] = shape;
  const { headSize } = policy.config;
  const out = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    const within = row % headSize;
    const half = headSize / 2;
    const source = row - within + (within % 2 === 0 ? within / 2 : half + (within - 1) / 2);
    out.set(data.subarray(source * columns, (source + 1) * columns), row * columns);
  }
  return out;
}

function ggufName(name: string): string {
  const layer = /^model\.layers\.(\d+)\.(.+)\.weight$/.exec(name);
  if (!layer)
    return name === "model.norm.weight"
      ? "output_norm.weight"
      : name === "lm_head.weight"
        ? "output.weight"
        : "token_embd.weight";
  const names: Record<string, string> = {
    input_layernorm: "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    post_attention_layernorm: "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
  };
  return `blk.${layer[1] ?? ""}.${names[layer[2] ?? ""] ?? ""}.weight`;
}

function toF16(data: Float32Array): Uint8Array {
  const bits = new Uint32Array(data.slice().buffer);
  const half = Uint16Array.from(bits, (value) => {
    const sign = (value >>> 16) & 0x8000;
    const exponent = ((value >>> 23) & 255) - 112;
    return exponent <= 0 ? sign : sign | (exponent << 10) | ((value >>> 13) & 0x3ff);
  });
  return new Uint8Array(half.buffer);
}

function pair(key: string, type: number, value: Buffer): Buffer {
  return concat([text(key), u32(type), value]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function concat(parts: Buffer[]): Buffer {
  return Buffer.concat(parts);
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

function writePadded(out: number, bytes: Uint8Array): void {
  writeSync(out, bytes);
  writeSync(out, Buffer.alloc(padded(bytes.length) - bytes.length));
}
