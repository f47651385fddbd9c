import { describe, expect, it } from "vitest";
import { decodeElements, encodeElements } from "../../../../engine/onnx/weights/elements.ts";

describe("element types", () => {
  it.each([
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x8000, -0],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
    [0x7e00, NaN],
    [0x3555, 0.333251953125],
  ])("half %i is %d", (bits, number) => {
    const target = new Float32Array(1);
    decodeElements("F16", new Uint8Array(Uint16Array.of(bits).buffer), target);
    expect(target[0]).toBe(number);
  });

  it.each([
    [1, 0x3f80],
    [1 + 2 ** -8, 0x3f80], // a tie goes to the even neighbour
    [1 + 3 * 2 ** -8, 0x3f82],
    [1 + 2 ** -8 + 2 ** -20, 0x3f81],
    [-1, 0xbf80],
    [NaN, 0x7fc0],
    [Infinity, 0x7f80],
  ])("%d rounds to bfloat16 %i", (number, bits) => {
    const encoded = encodeElements("BF16", Float32Array.of(number));
    expect(new Uint16Array(encoded.buffer)[0]).toBe(bits);
  });

  it("decodes from an address that is not aligned", () => {
    const bytes = new Uint8Array(9);
    bytes.set(new Uint8Array(Float32Array.of(1.5, -2).buffer), 1);
    const target = new Float32Array(2);
    decodeElements("F32", bytes.subarray(1), target);
    expect([...target]).toEqual([1.5, -2]);
    decodeElements("BF16", bytes.subarray(3, 5), target.subarray(0, 1));
    expect(target[0]).toBe(1.5);
  });
});
