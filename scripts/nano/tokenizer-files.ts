import { PIECE_PATTERN, type BytePairs } from "./byte-pairs.ts";

/** Control tokens: ids 0 to 5, in this order. They end, and separate, what is said. */
export const controlTokens = [
  "<|endoftext|>",
  "<|end|>",
  "<|system|>",
  "<|user|>",
  "<|assistant|>",
  "<|tool|>",
];

/** Ids 6 to 9. Part of the text, as in Qwen3: decoding keeps them, so that answers can be parsed. */
export const markupTokens = ["<think>", "</think>", "<tool_call>", "</tool_call>"];

export const END_ID = controlTokens.indexOf("<|end|>");
export const ASSISTANT_ID = controlTokens.indexOf("<|assistant|>");
export const PAD_ID = controlTokens.indexOf("<|endoftext|>");

/** The contents of tokenizer.json, as Hugging Face's tokenizer libraries read it. */
export function tokenizerJson(pairs: BytePairs): Record<string, unknown> {
  const added = [...controlTokens, ...markupTokens];
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: controlTokens.includes(content),
    })),
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: PIECE_PATTERN }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries([...added, ...pairs.pieces].map((piece, id) => [piece, id])),
      merges: pairs.merges,
    },
  };
}

/** The contents of tokenizer_config.json. */
export function tokenizerConfig(chatTemplate: string, maxPositions: number): Record<string, unknown> {
  return {
    tokenizer_class: "PreTrainedTokenizerFast",
    model_max_length: maxPositions,
    add_bos_token: false,
    bos_token: null,
    eos_token: "<|end|>",
    pad_token: "<|endoftext|>",
    unk_token: null,
    additional_special_tokens: controlTokens.slice(2),
    // Otherwise decoding would drop the space before punctuation, and text would not round-trip.
    clean_up_tokenization_spaces: false,
    split_special_tokens: false,
    chat_template: chatTemplate,
  };
}
