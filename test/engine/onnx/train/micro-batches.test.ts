import { describe, expect, it } from "vitest";
import { microBatches } from "../../../../engine/onnx/train/micro-batches.ts";

const sequences = [
  { ids: [10, 11, 12], wanted: [false, true, true] },
  { ids: [20, 21, 22, 23, 24], wanted: [false, false, false, true, true] },
  { ids: [30, 31], wanted: [false, false] },
  { ids: [40, 41, 42, 43, 44], wanted: [false, true, false, false, false] },
];

describe("micro-batches", () => {
  it("hold the longest first, without what teaches nothing and without unlearnt tails", () => {
    const [first, second, ...rest] = microBatches(sequences, { sequences: 2 });
    expect(rest).toEqual([]);
    expect(first).toEqual({
      size: 2,
      length: 4,
      ids: BigInt64Array.of(20n, 21n, 22n, 23n, 10n, 11n, 12n, 0n),
      rows: BigInt64Array.of(2n, 3n, 4n, 5n),
      targets: BigInt64Array.of(23n, 24n, 11n, 12n),
      places: [
        { sequence: 1, position: 3 },
        { sequence: 1, position: 4 },
        { sequence: 0, position: 1 },
        { sequence: 0, position: 2 },
      ],
    });
    expect(second).toMatchObject({
      size: 1,
      length: 1,
      ids: BigInt64Array.of(40n),
      targets: BigInt64Array.of(41n),
    });
  });

  it("stay within a number of tokens, padding counted, but never empty", () => {
    const sizes = (tokens: number): number[] =>
      microBatches(sequences, { sequences: 8, tokens }).map(({ size }) => size);
    expect(sizes(100)).toEqual([3]);
    expect(sizes(8)).toEqual([2, 1]);
    expect(sizes(1)).toEqual([1, 1, 1]);
  });
});
