import { Tensor } from "onnxruntime-node";
import type { LlamaConfig } from "./llama-config.ts";

/** Tensors over consecutive slots of a cache, as the graph takes them; key and value per layer. */
export interface KvWindow {
  /** Slots in the window. */
  batch: number;
  layers: readonly { key: Tensor; value: Tensor }[];
}

/**
 * Keys and values of all positions of all sequences that are being decoded, [slots, KV, positions, hd] per
 * layer. The slots of a window are contiguous, so a window is a view and nothing is copied to decode some
 * of them, or to prefill one.
 */
export class KvCache {
  readonly slots: number;
  readonly positions: number;
  readonly #keyValueHeads: number;
  readonly #headSize: number;
  readonly #layers: readonly { key: Float32Array; value: Float32Array }[];
  readonly #windows = new Map<string, KvWindow>();

  constructor(config: LlamaConfig, slots: number, positions: number) {
    this.slots = slots;
    this.positions = positions;
    this.#keyValueHeads = config.keyValueHeads;
    this.#headSize = config.headSize;
    const elements = slots * this.#slotElements;
    this.#layers = Array.from({ length: config.layers }, () => ({
      key: new Float32Array(elements),
      value: new Float32Array(elements),
    }));
  }

  /** Slots `first` to `first + count - 1`. */
  window(first: number, count: number): KvWindow {
    if (first < 0 || count < 1 || first + count > this.slots) {
      throw new RangeError(`No slots ${first} to ${first + count - 1} in a cache of ${this.slots}`);
    }
    const key = `${first}+${count}`;
    const known = this.#windows.get(key);
    if (known !== undefined) return known;
    const view = (data: Float32Array): Tensor => {
      const part = data.subarray(first * this.#slotElements, (first + count) * this.#slotElements);
      return new Tensor("float32", part, [count, this.#keyValueHeads, this.positions, this.#headSize]);
    };
    const layers = this.#layers.map((layer) => ({ key: view(layer.key), value: view(layer.value) }));
    const made = { batch: count, layers };
    this.#windows.set(key, made);
    return made;
  }

  /** Copies the first `positions` positions of a slot to another: a shared prompt, or a slot moving up. */
  copySlot(from: number, to: number, positions: number): void {
    const head = this.positions * this.#headSize;
    for (const layer of this.#layers) {
      for (const data of [layer.key, layer.value]) {
        for (let kv = 0; kv < this.#keyValueHeads; kv++) {
          const source = from * this.#slotElements + kv * head;
          const target = to * this.#slotElements + kv * head;
          data.copyWithin(target, source, source + positions * this.#headSize);
        }
      }
    }
  }

  /** Overwrites everything; what the graph must ignore can be shown to be ignored. */
  fill(value: number): void {
    for (const layer of this.#layers) {
      layer.key.fill(value);
      layer.value.fill(value);
    }
  }

  get #slotElements(): number {
    return this.#keyValueHeads * this.positions * this.#headSize;
  }
}

/**
 * Puts the new positions of one run into the slots of a window.
 *
 * @param news [2 L B, KV, S, hd]: keys and then values of each layer
 * @param starts the first new position of each slot
 * @param count S
 */
export function writeNews(
  window: KvWindow,
  news: Float32Array,
  starts: readonly number[],
  count: number,
): void {
  let from = 0;
  for (const { key, value } of window.layers) {
    for (const { data, dims } of [key, value]) {
      const [, heads = 0, positions = 0, headSize = 0] = dims;
      const size = count * headSize;
      for (let slot = 0; slot < window.batch; slot++) {
        for (let head = 0; head < heads; head++) {
          const to = ((slot * heads + head) * positions + (starts[slot] ?? 0)) * headSize;
          copy(news, from, data as Float32Array, to, size);
          from += size;
        }
      }
    }
  }
}

/** A loop: a head's row is too short for `set` and a view to pay. */
function copy(source: Float32Array, from: number, target: Float32Array, to: number, count: number): void {
  for (let i = 0; i < count; i++) target[to + i] = source[from + i] ?? 0;
}
