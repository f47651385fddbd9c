import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readGgufConfig } from "../../../engine/onnx/weights/gguf/hf-config.ts";
import { ggufConfig } from "../../../functions/models/gguf-config.ts";
import { parametersOf, shapeOf } from "../../../sdk/schema/model-shape.ts";

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/engine/gguf/${name}.gguf`, import.meta.url));
const startOf = (bytes: Uint8Array) => (count: number) => Promise.resolve(bytes.subarray(0, count));

function uint64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const uint32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const string = (text: string): Buffer => Buffer.concat([uint64(text.length), Buffer.from(text)]);

describe("the shape of a GGUF file", () => {
  it.each(["llama3", "qwen2", "qwen3"])("is what the engine reads of it: %s", async (name) => {
    const shape = shapeOf(await ggufConfig(startOf(readFileSync(fixture(name)))));
    expect(shape).toEqual(shapeOf((await readGgufConfig(fixture(name)))?.config));
    if (shape === undefined) throw new Error("There is no shape.");
    expect(parametersOf(shape)).toBeGreaterThan(1_000);
  });

  it("stands behind a tokenizer that is longer than the first read", async () => {
    const whole = readFileSync(fixture("llama3"));
    const words = Array.from({ length: 500_000 }, (_, index) => string(`word${index}`));
    const tokens = [string("tokenizer.more"), uint32(9), uint32(8), uint64(words.length), ...words];
    const head = whole.subarray(0, 16);
    const count = uint64(whole.readBigUInt64LE(16) + 1n);
    const longer = Buffer.concat([head, count, ...tokens, whole.subarray(24)]);
    expect(longer.length).toBeGreaterThan(2 ** 22);
    const asked: number[] = [];
    const read = (bytes: number) => {
      asked.push(bytes);
      return startOf(longer)(bytes);
    };
    expect(await ggufConfig(read)).toEqual(await ggufConfig(startOf(whole)));
    expect(asked).toEqual([2 ** 22, 2 ** 24]);
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["a text", Buffer.from("Once upon a time there was a file.")],
    ["a file that is cut off", readFileSync(fixture("qwen3")).subarray(0, 300)],
    [
      "more keys than there can be",
      Buffer.concat([Buffer.from("GGUF"), uint32(3), uint64(1), uint64(2n ** 63n)]),
    ],
    [
      "lists in lists without end",
      Buffer.concat([
        ...[Buffer.from("GGUF"), uint32(3), uint64(0), uint64(1), string("a"), uint32(9)],
        ...Array.from({ length: 100_000 }, () => [uint32(9), uint64(2n ** 60n)]).flat(),
      ]),
    ],
  ])("is unknown of %s", async (_, bytes) => {
    expect(shapeOf(await ggufConfig(startOf(bytes)))).toBeUndefined();
  });
});
