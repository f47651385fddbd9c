import type { KvWindow } from "../models/kv-cache.ts";
import type { LlamaConfig } from "../models/llama-config.ts";

/** A beginning that was read before. */
export interface KnownPrefix {
  ids: readonly number[];
  /** [layers, key and value, KV, positions, hd] */
  data: Float32Array;
}

/** Shorter ones are read anew as fast as they are copied. */
const SHORTEST = 16;
/** Bounds the search, where a small model's entries are small. */
const MAX_ENTRIES = 256;

/**
 * Keys and values of sequences that have ended, for requests that begin as they did: the next turn of a chat,
 * or another question after the same instructions. They are copied out of the slots, each as long as it is,
 * so that the memory is bounded to the byte and the pool stays as short as what is being decoded.
 *
 * The ones that were of no use for longest go first.
 */
export class PrefixStore {
  readonly #maxBytes: number;
  readonly #elementsPerPosition: number;
  /** The one used last is the last. */
  readonly #entries = new Set<KnownPrefix>();
  #bytes = 0;

  constructor({ layers, keyValueHeads, headSize }: LlamaConfig, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#elementsPerPosition = layers * 2 * keyValueHeads * headSize;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps what a slot holds for `ids`. `window`: that slot alone. */
  keep(ids: readonly number[], window: KvWindow): void {
    const elements = ids.length * this.#elementsPerPosition;
    const bytes = elements * Float32Array.BYTES_PER_ELEMENT;
    if (ids.length < SHORTEST || bytes > this.#maxBytes) return;
    for (const entry of this.#entries) {
      const shared = sharedLength(entry.ids, ids);
      if (shared === ids.length) return this.#use(entry);
      if (shared === entry.ids.length) this.#drop(entry);
    }
    while (this.#bytes + bytes > this.#maxBytes || this.#entries.size >= MAX_ENTRIES) this.#dropOldest();
    const data = new Float32Array(elements);
    forEachRow(window, ids.length, (part, at, from, count) =>
      data.set(part.subarray(from, from + count), at * count),
    );
    this.#entries.add({ ids, data });
    this.#bytes += bytes;
  }

  /** What shares the longest beginning with `ids`, of which the last must be read for its successor. */
  find(ids: readonly number[]): { known: KnownPrefix; shared: number } | undefined {
    let best: { known: KnownPrefix; shared: number } | undefined;
    for (const known of this.#entries) {
      const shared = Math.min(sharedLength(known.ids, ids), ids.length - 1);
      if (shared >= SHORTEST && shared > (best?.shared ?? 0)) best = { known, shared };
    }
    return best;
  }

  /** Puts the first `count` positions into a slot. `window`: that slot alone. */
  restore(known: KnownPrefix, count: number, window: KvWindow): void {
    const whole = known.ids.length;
    forEachRow(window, count, (part, at, to, size) => {
      const from = at * whole * (size / count);
      part.set(known.data.subarray(from, from + size), to);
    });
    this.#use(known);
  }

  #use(entry: KnownPrefix): void {
    this.#entries.delete(entry);
    this.#entries.add(entry);
  }

  #dropOldest(): void {
    for (const entry of this.#entries) return this.#drop(entry);
    throw new RangeError("Nothing is kept that could go");
  }

  #drop(entry: KnownPrefix): void {
    this.#entries.delete(entry);
    this.#bytes -= entry.data.byteLength;
  }
}

/** Calls back for the first `count` positions of each head: its array, its number, where it begins, elements. */
function forEachRow(
  { layers }: KvWindow,
  count: number,
  take: (part: Float32Array, row: number, start: number, elements: number) => void,
): void {
  let row = 0;
  for (const { key, value } of layers) {
    for (const { data, dims } of [key, value]) {
      const [, heads = 0, positions = 0, headSize = 0] = dims;
      for (let head = 0; head < heads; head++, row++)
        take(data as Float32Array, row, head * positions * headSize, count * headSize);
    }
  }
}

function sharedLength(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared++;
  return shared;
}
