import { describe, expect, it } from "vitest";
import { message } from "../../../../engine/onnx/graph/proto.ts";

describe("the protobuf writer", () => {
  it("writes the examples of the encoding specification", () => {
    expect([...message((writer) => writer.integer(1, 150))]).toEqual([0x08, 0x96, 0x01]);
    const text = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
    expect([...message((writer) => writer.string(2, "testing"))]).toEqual(text);
    const nested = message((writer) => writer.message(3, (inner) => inner.integer(1, 150)));
    expect([...nested]).toEqual([0x1a, 0x03, 0x08, 0x96, 0x01]);
  });

  it("writes negative integers in ten bytes, two's complement", () => {
    const bytes = [...message((writer) => writer.integer(1, -1))];
    expect(bytes).toEqual([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
  });

  it("writes floats little-endian and grows past its first buffer", () => {
    expect([...message((writer) => writer.float(2, 1))]).toEqual([0x15, 0, 0, 0x80, 0x3f]);
    const large = message((writer) => writer.bytes(1, new Uint8Array(100_000).fill(7)));
    expect(large.length).toBe(100_004);
    expect(large.subarray(4).every((byte) => byte === 7)).toBe(true);
  });
});
