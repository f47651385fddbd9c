import { KvCache, type KvWindow } from "../models/kv-cache.ts";
import type { LlamaConfig } from "../models/llama-config.ts";

const FIRST_POSITIONS = 64;
/** Every step clears and copies as many positions as the cache is long, so it grows by little. */
const STEP_POSITIONS = 32;
/** But not so little that copying it when it grows would count. */
const LEAST_GROWTH = 1.125;

/**
 * The KV cache of the sequences being decoded. It is as long as the longest of them needs, not as the model
 * allows: attention's scratch memory and the reach of a slot grow with it.
 */
export class KvPool {
  readonly slots: number;
  readonly #config: LlamaConfig;
  readonly #maxPositions: number;
  #cache: KvCache | undefined;

  constructor(config: LlamaConfig, slots: number, maxPositions: number) {
    this.#config = config;
    this.slots = slots;
    this.#maxPositions = maxPositions;
  }

  /** Positions there is memory for. */
  get positions(): number {
    return this.#cache?.positions ?? 0;
  }

  /** Makes room for `positions`; `used[slot]` positions of each slot are kept. */
  reserve(positions: number, used: readonly number[]): void {
    if (positions <= this.positions) return;
    const wanted = Math.max(FIRST_POSITIONS, positions, this.positions * LEAST_GROWTH);
    const size = Math.ceil(wanted / STEP_POSITIONS) * STEP_POSITIONS;
    const grown = new KvCache(this.#config, this.slots, Math.min(size, this.#maxPositions));
    const old = this.#cache;
    if (old !== undefined)
      used.forEach((count, slot) => copySlotAcross(old, grown, slot, count, this.#config));
    this.#cache = grown;
  }

  /** Zero-copy view of slots `first` to `first + count - 1`. */
  window(first: number, count: number): KvWindow {
    return this.#open().window(first, count);
  }

  /** Copies the first `positions` positions of a slot: a shared prompt, or a slot that moves. */
  copySlot(from: number, to: number, positions: number): void {
    this.#open().copySlot(from, to, positions);
  }

  /** Gives the memory of a grown cache back; nothing may be in use. */
  shrink(): void {
    if (this.positions > FIRST_POSITIONS) this.#cache = undefined;
  }

  #open(): KvCache {
    if (this.#cache === undefined) throw new RangeError("The pool has no positions reserved");
    return this.#cache;
  }
}

function copySlotAcross(from: KvCache, to: KvCache, slot: number, count: number, config: LlamaConfig): void {
  const { keyValueHeads, headSize } = config;
  const sources = from.window(slot, 1).layers;
  const targets = to.window(slot, 1).layers;
  for (const [layer, target] of targets.entries()) {
    for (const part of ["key", "value"] as const) {
      const source = sources[layer]?.[part].data as Float32Array;
      const into = target[part].data as Float32Array;
      for (let head = 0; head < keyValueHeads; head++) {
        const start = head * from.positions * headSize;
        into.set(source.subarray(start, start + count * headSize), head * to.positions * headSize);
      }
    }
  }
}
