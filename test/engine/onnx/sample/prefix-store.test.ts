import { describe, expect, it } from "vitest";
import { KvCache } from "../../../../engine/onnx/models/kv-cache.ts";
import { PrefixStore } from "../../../../engine/onnx/sample/prefix-store.ts";
import { tinyConfig } from "../support/tiny.ts";

const { layers, keyValueHeads, headSize } = tinyConfig;
const BYTES_PER_POSITION = layers * 2 * keyValueHeads * headSize * 4;

/** Every element tells where it stands. */
function filledCache(positions: number): KvCache {
  const cache = new KvCache(tinyConfig, 2, positions);
  let next = 0;
  for (const { key, value } of cache.window(0, 2).layers) {
    for (const { data } of [key, value]) for (let i = 0; i < data.length; i++) data[i] = next++;
  }
  return cache;
}

/** The numbers of one head of one slot: layer, part, head, position and element. */
function element(
  cache: KvCache,
  slot: number,
  at: [number, "key" | "value", number, number, number],
): number {
  const [layer, part, head, position, index] = at;
  const data = cache.window(slot, 1).layers[layer]?.[part].data as Float32Array;
  return data[(head * cache.positions + position) * headSize + index] ?? NaN;
}

function range(length: number, from = 0): number[] {
  return Array.from({ length }, (_, i) => from + i);
}

describe("PrefixStore", () => {
  it("puts back exactly what a slot held, into a slot of any length", () => {
    const store = new PrefixStore(tinyConfig, 2 ** 20);
    const source = filledCache(24);
    store.keep(range(20), source.window(1, 1));
    const found = store.find([...range(18), 99, 100]);
    expect(found?.shared).toBe(18);
    if (found === undefined) return;
    const target = new KvCache(tinyConfig, 2, 64);
    target.fill(-1);
    store.restore(found.known, found.shared, target.window(0, 1));
    for (const layer of range(layers)) {
      for (const part of ["key", "value"] as const) {
        for (const head of range(keyValueHeads)) {
          for (const position of range(64)) {
            const at: Parameters<typeof element>[2] = [layer, part, head, position, position % headSize];
            expect(element(target, 0, at)).toBe(position < 18 ? element(source, 1, at) : -1);
            expect(element(target, 1, at)).toBe(-1);
          }
        }
      }
    }
  });

  it("leaves a token to read, and finds the longest", () => {
    const store = new PrefixStore(tinyConfig, 2 ** 20);
    const window = filledCache(64).window(0, 1);
    store.keep(range(40), window);
    store.keep([...range(20), ...range(20, 500)], window);
    expect(store.find(range(40))?.shared).toBe(39);
    expect(store.find([...range(20), ...range(9, 500)])?.shared).toBe(28);
    expect(store.find(range(17))?.shared).toBe(16);
    expect(store.find(range(16))).toBeUndefined();
    expect(store.find(range(40, 1))).toBeUndefined();
  });

  it("stays within its memory, and lets go what was of no use for longest", () => {
    const store = new PrefixStore(tinyConfig, 64 * BYTES_PER_POSITION);
    const window = filledCache(128).window(0, 1);
    store.keep(range(20, 100), window);
    store.keep(range(20, 200), window);
    store.keep(range(20, 300), window);
    expect(store.bytes).toBe(60 * BYTES_PER_POSITION);
    const first = store.find(range(21, 100));
    if (first !== undefined) store.restore(first.known, 20, window);
    store.keep(range(30, 400), window);
    expect(store.bytes).toBe(50 * BYTES_PER_POSITION);
    expect([100, 200, 300, 400].map((from) => store.find(range(21, from))?.shared)).toEqual([
      20,
      undefined,
      undefined,
      20,
    ]);
    store.keep(range(65, 500), window);
    expect(store.bytes).toBe(50 * BYTES_PER_POSITION);
  });

  it("keeps one of two where one begins with the other", () => {
    const store = new PrefixStore(tinyConfig, 2 ** 20);
    const window = filledCache(64).window(0, 1);
    store.keep(range(20), window);
    store.keep(range(30), window);
    store.keep(range(25), window);
    store.keep(range(15, 700), window);
    expect(store.bytes).toBe(30 * BYTES_PER_POSITION);
  });
});
