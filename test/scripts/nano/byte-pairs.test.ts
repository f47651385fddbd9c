import { describe, expect, it } from "vitest";
import { byteAlphabet, toByteAlphabet, trainBytePairs } from "../../../scripts/nano/byte-pairs.ts";

describe("byteAlphabet", () => {
  it("gives each byte a printable character of its own, as GPT-2 does", () => {
    expect(new Set(byteAlphabet).size).toBe(256);
    expect(toByteAlphabet("a b\n")).toBe("aĠbĊ");
    expect(toByteAlphabet("é")).toBe("Ã©");
    expect(byteAlphabet.join("")).not.toMatch(/[\s\p{Cc}]/u);
  });
});

describe("trainBytePairs", () => {
  it("merges the most frequent pair first", () => {
    const { merges, pieces } = trainBytePairs(["abab abab", "ab"], 258);
    expect(merges).toEqual([
      ["a", "b"],
      ["ab", "ab"],
    ]);
    expect(pieces).toHaveLength(258);
    expect(pieces.slice(256)).toEqual(["ab", "abab"]);
  });

  it("never merges across words, digits or line ends", () => {
    const { merges } = trainBytePairs(
      Array.from({ length: 9 }, () => "12 12\nx x\nx x"),
      300,
    );
    expect(merges).toEqual([["Ġ", "x"]]);
  });

  it("stops when nothing repeats", () => {
    expect(trainBytePairs(["abcdef"], 1000).merges).toEqual([]);
  });

  it("lists a piece once, however it is spelt", () => {
    const texts = ["xabc", "xabc", "xabc", "ab", "ab", "bc", "bc", "bc", "bc", "bc", "abc", "abc"];
    const { pieces } = trainBytePairs(texts, 400);
    expect(new Set(pieces).size).toBe(pieces.length);
  });
});
