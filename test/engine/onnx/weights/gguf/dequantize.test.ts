import { describe, expect, it } from "vitest";
import { GgufFile } from "../../../../../engine/onnx/weights/gguf/gguf-file.ts";
import { BLOCK_FORMATS } from "../../../../../engine/onnx/weights/gguf/types.ts";
import { fixture, readFixture } from "../../support/fixtures.ts";

/** Written by test/reference/gguf_files.py. */
const { types } = readFixture("gguf/reference.json") as { types: Record<string, string> };

describe("tensors of a GGUF file", () => {
  it.each(Object.keys(BLOCK_FORMATS))(
    "of the type %s are what the gguf package reads, bit for bit",
    async (type) => {
      const bytes = Buffer.from(types[type] ?? "", "base64");
      const expected = new Uint32Array(new Uint8Array(bytes).buffer);
      const file = await GgufFile.open(fixture("gguf/types.gguf"));
      const found = new Float32Array(512);
      await file.readInto(type, found);
      await file.close();
      expect([...new Uint32Array(found.buffer)]).toEqual([...expected]);
    },
  );
});
