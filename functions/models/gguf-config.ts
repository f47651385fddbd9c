/** Gives the first bytes of a file, or all where it has no more. */
export type ReadStart = (bytes: number) => Promise<Uint8Array | undefined>;

/** The tokenizer stands before the tensors, and few have more than this of one. */
const READS = [2 ** 22, 2 ** 24, 2 ** 26];
/** Bytes of a value by its type; https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. */
const SIZES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const UINT32 = 4;
const STRING = 8;
const ARRAY = 9;

/**
 * What the metadata of a GGUF file says of a model's shape, by the keys of a `config.json`. Undefined for what is no
 * such file: the engine, which reads all of it, says what is wrong.
 *
 * @example
 * await ggufConfig((bytes) => readFirst("model.gguf", bytes)); // { model_type: "llama", hidden_size: 576, … }
 */
export async function ggufConfig(readStart: ReadStart): Promise<Record<string, unknown> | undefined> {
  for (const bytes of READS) {
    const start = await readStart(bytes);
    if (start === undefined) return undefined;
    try {
      return configOf(new Header(start));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Cut off; or it is no header at all, and then there is no more of it.
      if (start.length < bytes) return undefined;
    }
  }
  return undefined;
}

function configOf(header: Header): Record<string, unknown> | undefined {
  if (header.text(4) !== "GGUF" || header.uint32() < 2) return undefined;
  const tensors = header.count();
  const values = new Map<string, unknown>();
  for (let left = header.count(); left > 0; left--)
    values.set(header.string(), header.value(header.uint32()));
  const shapes = new Map<string, number[]>();
  for (let left = tensors; left > 0; left--) shapes.set(header.string(), header.tensor());
  const architecture = String(values.get("general.architecture"));
  const of = (key: string): unknown => values.get(`${architecture}.${key}`);
  return {
    model_type: architecture,
    // Dimensions are written from the innermost on.
    vocab_size: shapes.get("token_embd.weight")?.[1],
    hidden_size: of("embedding_length"),
    num_hidden_layers: of("block_count"),
    num_attention_heads: of("attention.head_count"),
    num_key_value_heads: of("attention.head_count_kv"),
    head_dim: of("attention.key_length"),
    intermediate_size: of("feed_forward_length"),
    max_position_embeddings: of("context_length"),
    tie_word_embeddings: !shapes.has("output.weight"),
  };
}

/** Reads on from where it is; a RangeError where the bytes end. */
class Header {
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  /** A 64-bit number that counts something in the file. */
  count(): number {
    return Number(this.#view.getBigUint64(this.#skip(8), true));
  }

  text(length: number): string {
    const from = this.#skip(length);
    return Buffer.from(this.#view.buffer, this.#view.byteOffset + from, length).toString("utf8");
  }

  string(): string {
    return this.text(this.count());
  }

  /** A whole number or a text; undefined for all else, which is passed over. */
  value(type: number): number | string | undefined {
    if (type === UINT32) return this.uint32();
    if (type === STRING) return this.string();
    if (type === ARRAY) this.#passArray(this.uint32(), this.count());
    else this.#skip(sizeOf(type));
    return undefined;
  }

  /** Dimensions of a tensor, whose type and place are passed over. */
  tensor(): number[] {
    const dimensions = Array.from({ length: Math.min(this.uint32(), 8) }, () => this.count());
    this.#skip(4 + 8);
    return dimensions;
  }

  #passArray(type: number, length: number): void {
    if (type !== STRING && type !== ARRAY) return void this.#skip(sizeOf(type) * length);
    for (let left = length; left > 0; left--) {
      if (type === STRING) this.#skip(this.count());
      else this.#passArray(this.uint32(), this.count());
    }
  }

  #skip(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    if (this.#at > this.#view.byteLength) throw new RangeError("The header ends behind these bytes.");
    return from;
  }
}

function sizeOf(type: number): number {
  const size = SIZES[type];
  if (size === undefined) throw new RangeError(`No value has the type ${type}.`);
  return size;
}
