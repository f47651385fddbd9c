import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../../../sdk/schema/errors.ts";
import { GgufFile } from "../../../../../engine/onnx/weights/gguf/gguf-file.ts";
import { parseGgufHeader } from "../../../../../engine/onnx/weights/gguf/header.ts";
import { readGgufFolder } from "../../../../../engine/onnx/text/gguf-folder.ts";
import { expectError } from "../../support/errors.ts";
import { fixture } from "../../support/fixtures.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const HUGE = 2n ** 60n;
const TEXT = 8;
const LIST = 9;

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function pair(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), u32(type), value]);
}

function tensor(name: string, { sizes = [32], type = 0, offset = 0 } = {}): Buffer {
  return Buffer.concat([text(name), u32(sizes.length), ...sizes.map(u64), u32(type), u64(offset)]);
}

interface Parts {
  version?: number;
  pairs?: Buffer[];
  tensors?: Buffer[];
  counts?: (number | bigint)[];
  data?: number;
}

function gguf({ version = 3, pairs = [], tensors = [], counts, data = 4096 }: Parts): Buffer {
  const [tensorCount, pairCount] = counts ?? [tensors.length, pairs.length];
  const head = [Buffer.from("GGUF"), u32(version), u64(tensorCount ?? 0), u64(pairCount ?? 0)];
  return Buffer.concat([...head, ...pairs, ...tensors, Buffer.alloc(data)]);
}

function parse(bytes: Buffer): ReturnType<typeof parseGgufHeader> {
  return parseGgufHeader(bytes, bytes.length, "x.gguf");
}

describe("the header of a GGUF file", () => {
  it.each([2, 3])("is read in version %i", (version) => {
    const pairs = [pair("a", TEXT, text("b")), pair("c", 6, Buffer.from(new Float32Array([1e-5]).buffer))];
    const header = parse(gguf({ version, pairs, tensors: [tensor("t", { sizes: [8, 4] })] }));
    expect(header?.metadata.text("a")).toBe("b");
    expect(header?.metadata.number("c")).toBe(1e-5);
    expect(header?.tensors.get("t")).toMatchObject({ type: "F32", shape: [4, 8], bytes: 128 });
  });

  it("is asked for again with more bytes where it is longer than those at hand", () => {
    const bytes = gguf({ pairs: [pair("a", TEXT, text("b".repeat(100)))] });
    expect(parseGgufHeader(bytes.subarray(0, 60), bytes.length, "x.gguf")).toBeUndefined();
  });

  it.each<[string, Parts, string]>([
    ["counts more tensors than it has bytes", { counts: [HUGE, 0] }, "announces"],
    ["counts more keys than it has bytes", { counts: [0, HUGE] }, "announces"],
    ["has a key twice", { pairs: [pair("a", 4, u32(1)), pair("a", 4, u32(1))] }, "has a twice"],
    ["has a name without end", { pairs: [u64(HUGE)], counts: [0, 1] }, "key 1 of 1"],
    ["has a text without end", { pairs: [pair("a", TEXT, u64(HUGE))] }, "within a"],
    ["has a value of no type", { pairs: [pair("a", 77, u32(1))] }, "type 77"],
    ["has a list of no type", { pairs: [pair("a", LIST, Buffer.concat([u32(77), u64(1)]))] }, "type 77"],
    ["has a list without end", { pairs: [pair("a", LIST, Buffer.concat([u32(4), u64(HUGE)]))] }, "announces"],
    [
      "has lists in lists",
      {
        pairs: [pair("a", LIST, Buffer.concat(Array.from({ length: 9 }, () => [u32(LIST), u64(1)]).flat()))],
      },
      "lists in lists",
    ],
    ["has a tensor of nothing", { tensors: [tensor("t", { sizes: [0] })] }, "[0]"],
    ["has a tensor of too much", { tensors: [tensor("t", { sizes: [2 ** 30, 2 ** 30] })] }, "shape"],
    [
      "has a tensor of nine dimensions",
      { tensors: [tensor("t", { sizes: [1, 1, 1, 1, 1, 1, 1, 1, 1] })] },
      "9 dimensions",
    ],
    ["has a tensor twice", { tensors: [tensor("t"), tensor("t")] }, "twice"],
    ["has a tensor beyond its end", { tensors: [tensor("t", { offset: 4096 })] }, "ends within t"],
    ["has a tensor off the grid", { tensors: [tensor("t", { offset: 33 })] }, "multiple of 32"],
    ["has broken blocks", { tensors: [tensor("t", { sizes: [33], type: 8 })] }, "no multiple of 32"],
    [
      "has an alignment of nothing",
      { pairs: [pair("general.alignment", 4, u32(0))] },
      "x.gguf: general.alignment is 0",
    ],
  ])("is damaged where it %s", async (_, parts, message) => {
    await expectError(() => parse(gguf(parts)), "model_corrupt", "x.gguf", message);
  });

  it.each<[string, Parts, string]>([
    ["a version before these", { version: 1 }, "version 1"],
    ["machines of the other byte order", { version: 3 * 2 ** 24 }, "big-endian"],
    ["types that are not read", { tensors: [tensor("t", { type: 16 })] }, "IQ2_XXS"],
    ["types nobody knows", { tensors: [tensor("t", { type: 1234 })] }, "number 1234"],
  ])("is refused for %s", async (_, parts, message) => {
    await expectError(() => parse(gguf(parts)), "model_unsupported", message);
  });

  it("is no header where another file begins", async () => {
    await expectError(
      () => parse(Buffer.from("PK\u0003\u0004 and so on")),
      "model_corrupt",
      "does not begin with GGUF",
    );
  });
});

describe("a damaged GGUF file", () => {
  const whole = readFileSync(fixture("gguf/tokenizer-smollm.gguf"));

  it("is named wherever it was cut off", async () => {
    for (let length = 0; length < whole.length - 64; length += 7) {
      await expectError(() => parse(whole.subarray(0, length)), "model_corrupt", "x.gguf");
    }
  });

  it("never makes anything but a coded error, whichever byte is wrong", () => {
    let random = 1;
    const next = (below: number): number => (random = (random * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 1500; round++) {
      const bytes = Buffer.from(whole);
      // Where lengths, types and keys lie close to each other.
      bytes[next(round % 2 === 0 ? 400 : bytes.length)] = next(256);
      try {
        parse(bytes);
      } catch (error) {
        expect(SpotterError.is(error) && error.code).toMatch(/^model_(corrupt|unsupported)$/);
      }
    }
  });

  it("is closed, and says what its metadata lacks", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "model.gguf");
    await writeFile(path, gguf({ pairs: [pair("general.architecture", TEXT, text("llama"))] }));
    await expectError(() => readGgufFolder(folder.path), "model_corrupt", "llama.block_count");
    await writeFile(path, gguf({ pairs: [pair("general.architecture", TEXT, text("gemma3"))] }));
    await expectError(() => readGgufFolder(path), "model_unsupported", '"gemma3"');
    await writeFile(path, gguf({}).subarray(0, 10));
    await expectError(() => GgufFile.open(path), "model_corrupt", "ends within");
  });
});
