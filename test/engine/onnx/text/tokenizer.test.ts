import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HubTokenizer } from "../../../../engine/onnx/text/hub-tokenizer.ts";
import { tokenBytes, Tokenizer } from "../../../../engine/onnx/text/tokenizer.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { tinyTokenizer } from "../fixtures/tiny-model.ts";

const { tokenizer: json, config } = tinyTokenizer();
const tokenizer = new Tokenizer(json, config);
const text = "Ein alter Teich \u{1f438} – 古池\n";

/** Llama-2 style: words begin with a lower one-eighth block, bytes are spelt out. */
const sentencePiece = {
  version: "1.0",
  added_tokens: [{ id: 0, content: "</s>", special: true, normalized: false }],
  normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }] },
  pre_tokenizer: null,
  post_processor: null,
  decoder: {
    type: "Sequence",
    decoders: [
      { type: "Replace", pattern: { String: "▁" }, content: " " },
      { type: "ByteFallback" },
      { type: "Fuse" },
      { type: "Strip", content: " ", start: 1, stop: 0 },
    ],
  },
  model: {
    type: "BPE",
    unk_token: "</s>",
    byte_fallback: true,
    vocab: { "</s>": 0, "▁Old": 1, "▁pond": 2, "<0xF0>": 3, "<0x9F>": 4, "<0x90>": 5, "<0xB8>": 6 },
    merges: [],
  },
};

describe("Tokenizer", () => {
  it("knows without encoding that a text has too many tokens, and is never wrong", () => {
    expect(tokenizer.mayFit("x".repeat(100_000), 100)).toBe(false);
    const llama = new Tokenizer(sentencePiece, {});
    // The longest tokens have five bytes, as " pond".
    expect(llama.mayFit(" pond".repeat(10), 10)).toBe(true);
    expect(llama.mayFit(" pond".repeat(10) + "x", 10)).toBe(false);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(tokenizer.mayFit(value, tokenizer.encode(value).length)).toBe(true);
      }),
    );
  });

  it("round-trips any text", () => {
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(tokenizer.decode(tokenizer.encode(value))).toBe(value);
      }),
      { numRuns: 50 },
    );
  });

  it("decodes as the library does, broken bytes included", () => {
    const hub = new HubTokenizer(json, config);
    const ids = fc.array(fc.integer({ min: 3, max: 262 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(ids, (value) => {
        expect(tokenizer.decode(value, { special: true })).toBe(hub.decode(value));
      }),
    );
  });

  it("streams whole characters only", () => {
    const stream = tokenizer.stream();
    const pieces = tokenizer.encode(text).map((id) => stream.push(id));
    pieces.push(stream.end());
    expect(pieces.join("")).toBe(text);
    expect(pieces.join("|")).not.toContain("\ufffd");
    expect(pieces.filter((piece) => piece !== "").length).toBe([...text].length);
  });

  it("says at the end that a character was cut short", () => {
    const stream = tokenizer.stream();
    const half = tokenizer.encode("é").slice(0, 1);
    expect(half.map((id) => stream.push(id)).join("")).toBe("");
    expect(stream.end()).toBe("\ufffd");
  });

  it("recognises control tokens in text, leaves them out of text, and keeps markup", () => {
    const ids = tokenizer.encode("<|user|>a<think>");
    expect(ids).toHaveLength(3);
    expect(tokenizer.isSpecial(ids[0] ?? -1)).toBe(true);
    expect(tokenizer.decode(ids)).toBe("a<think>");
    expect(tokenizer.decode(ids, { special: true })).toBe("<|user|>a<think>");
    expect(tokenizer.idOf("<|user|>")).toBe(ids[0]);
  });

  it("keeps tags of reasoning and calls in text where a tokenizer calls them special", () => {
    const added = ["<|end|>", "<|python_tag|>", "<think>"].map((content, id) => ({
      id,
      content,
      special: true,
    }));
    const special = new Tokenizer({ ...json, added_tokens: added }, config);
    expect(special.decode([1, 2, 0])).toBe("<|python_tag|><think>");
  });

  it("lists what every token writes, without control tokens", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "tokenizer.json");
    for (const each of [json, sentencePiece]) {
      await writeFile(file, JSON.stringify(each));
      const whole = new Tokenizer(each, {});
      const bytes = await tokenBytes(file);
      expect(bytes.length).toBeGreaterThan(6);
      for (const [id, written] of bytes.entries()) {
        expect(written).toEqual(whole.isSpecial(id) ? undefined : whole.bytesOf(id));
      }
    }
  });

  it("knows the exact bytes of a token", () => {
    const bytes = tokenizer.encode("é").map((id) => [...tokenizer.bytesOf(id)]);
    expect(bytes).toEqual([[0xc3], [0xa9]]);
  });

  it("decodes SentencePiece pieces as the library does", () => {
    const llama = new Tokenizer(sentencePiece, {});
    const hub = new HubTokenizer(sentencePiece, { clean_up_tokenization_spaces: false });
    for (const ids of [
      [1, 2],
      [1, 3, 4, 5, 6],
      [1, 3, 4],
      [3, 4, 5, 6, 2],
    ]) {
      expect(llama.decode(ids)).toBe(hub.decode(ids));
    }
    expect(llama.decode([1, 3, 4, 5, 6, 2, 0])).toBe("Old\u{1f438} pond");
  });

  it.each([
    ["a decoder it does not know", { ...json, decoder: { type: "CTC" } }, "model_unsupported"],
    ["a damaged file", { decoder: { type: "ByteLevel" } }, "model_corrupt"],
  ])("refuses %s", (_, broken, code) => {
    expect(() => new Tokenizer(broken, config)).toThrowError(expect.objectContaining({ code }) as Error);
  });

  it("names the file that is missing", async () => {
    await expect(Tokenizer.load("/nowhere")).rejects.toMatchObject({ code: "model_not_found" });
  });
});
