import { describe, expect, it } from "vitest";
import { Tokenizer } from "../../../../engine/onnx/text/tokenizer.ts";
import { ggufTexts } from "../../../../engine/onnx/text/gguf-tokenizer.ts";
import { GgufFile } from "../../../../engine/onnx/weights/gguf/gguf-file.ts";
import { fixture, readFixture } from "../support/fixtures.ts";

/** Written by test/reference/gguf_files.py. */
const { tokenizers } = readFixture("gguf/reference.json") as {
  tokenizers: Record<string, { text: string; ids: number[] }[]>;
};

async function textsOf(name: string): ReturnType<typeof load> {
  return load(fixture(`gguf/tokenizer-${name}.gguf`));
}

async function load(path: string): Promise<ReturnType<typeof ggufTexts>> {
  const file = await GgufFile.open(path);
  try {
    return ggufTexts(file);
  } finally {
    await file.close();
  }
}

describe("the tokenizer of a GGUF file", () => {
  it.each(Object.keys(tokenizers))("cuts text the way of %s as tokenizers does", async (name) => {
    const texts = await textsOf(name);
    const tokenizer = new Tokenizer(texts["tokenizer.json"], texts["tokenizer_config.json"]);
    for (const { text, ids } of tokenizers[name] ?? []) {
      expect(tokenizer.encode(text), text).toEqual(ids);
      expect(tokenizer.decode(ids, { special: true })).toBe(
        text.normalize(name === "qwen" ? "NFC" : undefined),
      );
    }
  });

  it("comes with special tokens, ends of an answer and the chat template", async () => {
    const texts = await textsOf("smollm");
    const config = texts["tokenizer_config.json"];
    expect(config).toMatchObject({ eos_token: "<|im_end|>", chat_template: "{{ messages[0].content }}" });
    const tokenizer = new Tokenizer(texts["tokenizer.json"], config);
    const end = tokenizer.idOf("<|im_end|>");
    expect(texts["generation_config.json"]).toEqual({ eos_token_id: [end] });
    expect(tokenizer.isSpecial(end ?? -1)).toBe(true);
  });

  it("puts a start token before a bare text where the kind does so", async () => {
    const texts = await textsOf("llama3");
    const tokenizer = new Tokenizer(texts["tokenizer.json"], texts["tokenizer_config.json"]);
    expect(tokenizer.encodeDocument("The old pond")).toEqual([0, ...tokenizer.encode("The old pond")]);
  });
});
