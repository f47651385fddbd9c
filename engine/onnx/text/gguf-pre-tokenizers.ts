/** How tokenizers of one kind cut text before their merges are applied. */
export interface PreTokenizer {
  /** `tokenizer.ggml.pre`, the name llama.cpp has for it first. */
  names: readonly [string, ...string[]];
  normalizer: object | null;
  preTokenizer: object;
  /** A word that is a token is one, whatever the merges make of it. */
  ignoreMerges: boolean;
  /** The start token is put before a text where a file does not say. */
  addsStart: boolean;
}

const BYTE_LEVEL = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true };
/** GPT-2's own cut of text, which is part of ByteLevel. */
const GPT2 = { ...BYTE_LEVEL, use_regex: true };

/** GPT-4's way, with numbers in runs of up to so many digits. */
function cutAsGpt4(digits: string): object {
  const pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
  const split = { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
  return { type: "Sequence", pretokenizers: [split, { ...BYTE_LEVEL, use_regex: false }] };
}

/** Those of the families that are read. */
export const PRE_TOKENIZERS: readonly PreTokenizer[] = [
  {
    names: ["smollm"],
    normalizer: null,
    preTokenizer: { type: "Sequence", pretokenizers: [{ type: "Digits", individual_digits: true }, GPT2] },
    ignoreMerges: false,
    addsStart: false,
  },
  {
    names: ["llama-bpe", "llama3", "llama-v3"],
    normalizer: null,
    preTokenizer: cutAsGpt4("{1,3}"),
    ignoreMerges: true,
    addsStart: true,
  },
  {
    names: ["qwen2", "deepseek-r1-qwen"],
    normalizer: { type: "NFC" },
    preTokenizer: cutAsGpt4(""),
    ignoreMerges: false,
    addsStart: false,
  },
  { names: ["gpt-2"], normalizer: null, preTokenizer: GPT2, ignoreMerges: false, addsStart: false },
];
