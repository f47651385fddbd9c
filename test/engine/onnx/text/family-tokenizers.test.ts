import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Tokenizer } from "../../../../engine/onnx/text/tokenizer.ts";
import { fixture, readFixture } from "../support/fixtures.ts";

/** Written by test/reference/token_ids.py. */
interface Reference {
  script: string;
  cases: { text: string; ids: number[]; decoded: string }[];
}

describe.each(["qwen", "llama3"])("text cut as %s cuts it", (family) => {
  const { script, cases } = readFixture(`tokenizers/${family}/reference.json`) as Reference;

  it("has the ids of the tokenizers library, and comes back the same", async () => {
    const tokenizer = await Tokenizer.load(fixture(`tokenizers/${family}`));
    for (const { text, ids, decoded } of cases) {
      expect(tokenizer.encode(text), JSON.stringify(text)).toEqual(ids);
      expect(tokenizer.decode(ids), JSON.stringify(text)).toBe(decoded);
    }
  });

  it("was measured by the script as it is", async () => {
    const file = fileURLToPath(new URL("../../../reference/token_ids.py", import.meta.url));
    expect(script).toBe(
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    );
  });
});
