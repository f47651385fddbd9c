import { describe, expect, it } from "vitest";
import { dequantize } from "../../../../../engine/onnx/weights/gguf/dequantize.ts";
import { quantize, WRITTEN_TYPES } from "../../../../../engine/onnx/weights/gguf/quantize.ts";
import { readFixture } from "../../support/fixtures.ts";

/** Written by test/reference/gguf_files.py. */
const reference = readFixture("gguf/reference.json") as {
  types: Record<string, string>;
  written: Record<string, string>;
};

function bytesOf(text: string | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(text ?? "", "base64"));
}

const numbers = new Float32Array(bytesOf(reference.types["F32"]).buffer);

describe("numbers written to a GGUF file", () => {
  it.each(Object.keys(reference.written))("as %s are the bytes that the gguf package writes", (type) => {
    const known = WRITTEN_TYPES.find((each) => each === type);
    expect(known && [...quantize(known, numbers)]).toEqual([...bytesOf(reference.written[type])]);
  });

  it("are rounded to the nearest half, ties to even, down to the smallest and up to infinity", () => {
    const halves = Uint16Array.from({ length: 0x7c01 }, (_, half) => half);
    const values = new Float32Array(halves.length);
    dequantize("F16", new Uint8Array(halves.buffer), values);
    expect(new Uint16Array(quantize("F16", values).slice().buffer)).toEqual(halves);
    const between = values.slice(0, -2).map((value, half) => (value + (values[half + 1] ?? 0)) / 2);
    const even = Uint16Array.from(between, (_, half) => half + (half & 1));
    expect(new Uint16Array(quantize("F16", between).slice().buffer)).toEqual(even);
    expect([...quantize("F16", Float32Array.of(-65_520, NaN, -1e-9))]).toEqual([0, 0xfc, 0, 0x7e, 0, 0x80]);
  });
});
