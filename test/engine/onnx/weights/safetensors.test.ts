import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SafetensorsFile, writeSafetensors } from "../../../../engine/onnx/weights/safetensors.ts";
import { expectError } from "../support/errors.ts";
import { numbers } from "../support/gradient-check.ts";
import { temporaryFolder } from "../support/temporary.ts";

const tensors = [
  { name: "a", shape: [2, 3], data: numbers(6, 1) },
  { name: "b", shape: [5], data: numbers(5, 2) },
];

describe("safetensors files", () => {
  it("round-trip float32 bit for bit", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "x.safetensors");
    await writeSafetensors(path, tensors);
    const file = await SafetensorsFile.open(path);
    expect(file.metadata).toEqual({ format: "pt" });
    for (const { name, shape, data } of tensors) {
      const read = new Float32Array(data.length);
      await file.readInto(name, read);
      expect(file.tensors.get(name)).toMatchObject({ type: "F32", shape });
      expect(read).toEqual(data);
    }
    await file.close();
  });

  it("write bfloat16 within half a unit of its seven bits", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "x.safetensors");
    await writeSafetensors(path, tensors, "BF16");
    const file = await SafetensorsFile.open(path);
    const read = new Float32Array(6);
    await file.readInto("a", read);
    await file.close();
    for (const [i, x] of numbers(6, 1).entries())
      expect(Math.abs((read[i] ?? NaN) - x)).toBeLessThanOrEqual(Math.abs(x) / 256);
  });

  it("give coded errors where a file is truncated at any length, or another format", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "x.safetensors");
    await writeSafetensors(path, tensors);
    const whole = await readFile(path);
    for (const length of [0, 4, 8, 20, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      await expectError(() => SafetensorsFile.open(path), "model_corrupt", path);
    }
    await writeFile(path, "<!doctype html><title>404</title>");
    await expectError(() => SafetensorsFile.open(path), "model_corrupt", path);
    await expectError(() => SafetensorsFile.open(join(folder.path, "none")), "model_not_found", "none");
  });

  it.each([
    ["[]", "header"],
    ['{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}', "a "],
    ['{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}', "a "],
    ['{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', "a [2]"],
    ['{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}', "a [2]"],
    ["{", "JSON"],
  ])("refuse the header %s", async (header, names) => {
    await using folder = await temporaryFolder();
    const path = await withHeader(folder.path, header);
    await expectError(() => SafetensorsFile.open(path), "model_corrupt", names);
  });

  it("say which tensor has a type the engine does not read", async () => {
    await using folder = await temporaryFolder();
    const path = await withHeader(folder.path, '{"w":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}}');
    await expectError(() => SafetensorsFile.open(path), "model_unsupported", "w", "I8");
    const odd = await withHeader(folder.path, '{"w":{"dtype":"toString","shape":[8],"data_offsets":[0,8]}}');
    await expectError(() => SafetensorsFile.open(odd), "model_unsupported", "toString");
  });

  it("refuse to read a tensor that is missing or of another size", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "x.safetensors");
    await writeSafetensors(path, tensors);
    const file = await SafetensorsFile.open(path);
    await expectError(() => file.readInto("c", new Float32Array(1)), "model_corrupt", "no tensor c");
    await expectError(() => file.readInto("a", new Float32Array(1)), "model_corrupt", "a is [2,3]");
    await file.close();
  });
});

/** A file with this header and eight bytes of data. */
async function withHeader(dir: string, header: string): Promise<string> {
  const path = join(dir, "x.safetensors");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await writeFile(path, Buffer.concat([length, Buffer.from(header), Buffer.alloc(8)]));
  return path;
}
