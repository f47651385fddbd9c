import { describe, expect, it } from "vitest";
import { KvCache, type KvWindow } from "../../../../engine/onnx/models/kv-cache.ts";
import { tinyConfig } from "../support/tiny.ts";

const POSITIONS = 4;
const HEAD = tinyConfig.headSize;
const SLOT = tinyConfig.keyValueHeads * POSITIONS * HEAD;

describe("the cache", () => {
  it("gives windows that are views: what one writes the others see", () => {
    const cache = new KvCache(tinyConfig, 3, POSITIONS);
    const all = keys(cache.window(0, 3));
    keys(cache.window(1, 1))[0] = 5;
    expect(all[SLOT]).toBe(5);
    expect(cache.window(1, 2).layers[0]?.key.dims).toEqual([2, tinyConfig.keyValueHeads, POSITIONS, HEAD]);
    expect(cache.window(1, 2).layers).toHaveLength(tinyConfig.layers);
    expect(cache.window(0, 3)).toBe(cache.window(0, 3));
  });

  it("copies the first positions of a slot, every head, and no more", () => {
    const cache = new KvCache(tinyConfig, 2, POSITIONS);
    keys(cache.window(0, 1)).forEach((_, i, data) => (data[i] = i + 1));
    cache.copySlot(0, 1, 3);
    const [from, to] = [keys(cache.window(0, 1)), keys(cache.window(1, 1))];
    for (const [i, x] of to.entries()) {
      const position = Math.floor(i / HEAD) % POSITIONS;
      expect(x).toBe(position < 3 ? from[i] : 0);
    }
  });

  it("has no slots but its own", () => {
    const cache = new KvCache(tinyConfig, 2, POSITIONS);
    expect(() => cache.window(1, 2)).toThrow("No slots 1 to 2");
    expect(() => cache.window(0, 0)).toThrow(RangeError);
  });
});

function keys(window: KvWindow): Float32Array {
  const data = window.layers[0]?.key.data;
  if (!(data instanceof Float32Array)) throw new Error("No keys");
  return data;
}
