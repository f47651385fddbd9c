import { describe, expect, it } from "vitest";
import { KvPool } from "../../../../engine/onnx/sample/kv-pool.ts";
import { tinyConfig } from "../fixtures/tiny-model.ts";

const { keyValueHeads, headSize } = tinyConfig;

function data(pool: KvPool, slot: number, layer: number, part: "key" | "value"): Float32Array {
  return pool.window(slot, 1).layers[layer]?.[part].data as Float32Array;
}

/** Writes a number of its own into every position a slot uses. */
function mark(pool: KvPool, slot: number, count: number): void {
  for (let layer = 0; layer < tinyConfig.layers; layer++) {
    for (const [index, part] of (["key", "value"] as const).entries()) {
      const view = data(pool, slot, layer, part);
      for (let head = 0; head < keyValueHeads; head++) {
        for (let i = 0; i < count * headSize; i++) {
          view[head * pool.positions * headSize + i] = tag(slot, layer, index, head) + i;
        }
      }
    }
  }
}

function tag(slot: number, layer: number, part: number, head: number): number {
  return slot * 1e6 + layer * 1e5 + part * 5e4 + head * 1e4;
}

function expectMarked(pool: KvPool, slot: number, from: number, count: number): void {
  for (let layer = 0; layer < tinyConfig.layers; layer++) {
    for (const [index, part] of (["key", "value"] as const).entries()) {
      const view = data(pool, slot, layer, part);
      for (let head = 0; head < keyValueHeads; head++) {
        const start = head * pool.positions * headSize;
        const expected = Array.from(
          { length: count * headSize },
          (_, i) => tag(from, layer, index, head) + i,
        );
        expect([...view.subarray(start, start + count * headSize)]).toEqual(expected);
      }
    }
  }
}

describe("KvPool", () => {
  it("keeps what is used when it grows, by 32 positions or an eighth, up to the model's length", () => {
    const pool = new KvPool(tinyConfig, 3, 700);
    expect(pool.positions).toBe(0);
    pool.reserve(5, []);
    expect(pool.positions).toBe(64);
    mark(pool, 0, 64);
    mark(pool, 1, 3);
    pool.reserve(65, [64, 3]);
    expect(pool.positions).toBe(96);
    expectMarked(pool, 0, 0, 64);
    expectMarked(pool, 1, 1, 3);
    pool.reserve(512, [64, 3]);
    expect(pool.positions).toBe(512);
    pool.reserve(513, [64, 3]);
    expect(pool.positions).toBe(576);
    expectMarked(pool, 1, 1, 3);
    pool.reserve(690, [64, 3]);
    expect(pool.positions).toBe(700);
    expectMarked(pool, 0, 0, 64);
  });

  it("copies a slot's positions to another", () => {
    const pool = new KvPool(tinyConfig, 3, 64);
    pool.reserve(8, []);
    mark(pool, 2, 8);
    mark(pool, 0, 8);
    pool.copySlot(2, 0, 4);
    expectMarked(pool, 0, 2, 4);
    expectMarked(pool, 2, 2, 8);
  });

  it("gives a grown cache back", () => {
    const pool = new KvPool(tinyConfig, 1, 256);
    pool.reserve(100, []);
    pool.shrink();
    expect(pool.positions).toBe(0);
  });
});
