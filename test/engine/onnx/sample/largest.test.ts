import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { largest } from "../../../../engine/onnx/sample/largest.ts";

describe("largest", () => {
  it("is the head of a sort", () => {
    const values = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 });
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 70 }), (numbers, count) => {
        const sorted = numbers.map((_, index) => index);
        sorted.sort((a, b) => (numbers[b] ?? 0) - (numbers[a] ?? 0) || a - b);
        expect(largest(Float32Array.from(numbers), count)).toEqual(sorted.slice(0, count));
      }),
    );
  });
});
