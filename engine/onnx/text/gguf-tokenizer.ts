/**
 * The tokenizer in the metadata of a GGUF file, as the files of a Hugging Face model folder.
 *
 * @module
 */
import { ggufCorrupt, ggufUnsupported } from "../weights/gguf/errors.ts";
import type { GgufFile } from "../weights/gguf/gguf-file.ts";
import type { GgufMetadata } from "../weights/gguf/metadata.ts";
import { PRE_TOKENIZERS, type PreTokenizer } from "./gguf-pre-tokenizers.ts";

/** `tokenizer.ggml.token_type` */
export const TOKEN_TYPE = { NORMAL: 1, UNKNOWN: 2, CONTROL: 3, USER_DEFINED: 4, UNUSED: 5, BYTE: 6 } as const;

/** Control tokens that end an answer whatever a file says of its end: chat models stop at both. */
const ENDS = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>"];

/** A file's own tokenizer.json, where whoever wrote it put that in. */
export const WHOLE_TOKENIZER = "tokenizer.huggingface.json";
export const KEYS = {
  model: "tokenizer.ggml.model",
  pre: "tokenizer.ggml.pre",
  tokens: "tokenizer.ggml.tokens",
  types: "tokenizer.ggml.token_type",
  merges: "tokenizer.ggml.merges",
  template: "tokenizer.chat_template",
  addStart: "tokenizer.ggml.add_bos_token",
} as const;

type Source = Pick<GgufFile, "metadata" | "path">;

export interface GgufTexts {
  "tokenizer.json": Record<string, unknown>;
  "tokenizer_config.json": Record<string, unknown>;
  "generation_config.json": Record<string, unknown>;
}

/**
 * @throws SpotterError `model_corrupt` where the metadata does not make a tokenizer, `model_unsupported` for a
 *   kind that is not read.
 */
export function ggufTexts(file: Source): GgufTexts {
  const vocabulary = vocabularyOf(file);
  const special = specialTokens(file, vocabulary.tokens);
  return {
    "tokenizer.json": wholeTokenizer(file) ?? tokenizerJson(file, vocabulary, special.bos_token),
    "tokenizer_config.json": {
      tokenizer_class: "PreTrainedTokenizerFast",
      ...special,
      clean_up_tokenization_spaces: false,
      ...chatTemplate(file.metadata),
    },
    "generation_config.json": { eos_token_id: endIds(file.metadata, vocabulary) },
  };
}

interface Vocabulary {
  tokens: string[];
  types: number[];
}

function vocabularyOf({ metadata, path }: Source): Vocabulary {
  const model = metadata.text(KEYS.model);
  if (model === undefined) throw ggufCorrupt(path, `has no ${KEYS.model}`, KEYS.model);
  if (model !== "gpt2") {
    const hint = "Use a model with a byte-level BPE tokenizer, or its safetensors with tokenizer.json.";
    throw ggufUnsupported(
      path,
      `the tokenizer is of the kind ${JSON.stringify(model)}, not "gpt2"`,
      KEYS.model,
      hint,
    );
  }
  const tokens = metadata.texts(KEYS.tokens) ?? [];
  if (tokens.length === 0) throw ggufCorrupt(path, `has no ${KEYS.tokens}`, KEYS.tokens);
  const types = metadata.numbers(KEYS.types) ?? tokens.map(() => TOKEN_TYPE.NORMAL);
  if (types.length === tokens.length) return { tokens, types };
  throw ggufCorrupt(
    path,
    `: ${KEYS.types} has ${types.length} entries for ${tokens.length} tokens`,
    KEYS.types,
  );
}

function wholeTokenizer({ metadata, path }: Source): Record<string, unknown> | undefined {
  const text = metadata.text(WHOLE_TOKENIZER);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, as for every other value that is no object.
  }
  throw ggufCorrupt(path, `: ${WHOLE_TOKENIZER} is no JSON object`, WHOLE_TOKENIZER);
}

function tokenizerJson(
  { metadata, path }: Source,
  { tokens, types }: Vocabulary,
  start: string | undefined,
): Record<string, unknown> {
  const pre = preTokenizer({ metadata, path });
  const addsStart = metadata.flag(KEYS.addStart) ?? pre.addsStart;
  const added = tokens.flatMap((content, id) => {
    const special = types[id] === TOKEN_TYPE.CONTROL;
    if (!special && types[id] !== TOKEN_TYPE.USER_DEFINED) return [];
    return [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special }];
  });
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: pre.normalizer,
    pre_tokenizer: pre.preTokenizer,
    post_processor:
      addsStart && start !== undefined
        ? startBefore(start, tokens.indexOf(start))
        : { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: pre.ignoreMerges,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: mergesOf({ metadata, path }),
    },
  };
}

function preTokenizer({ metadata, path }: Source): PreTokenizer {
  const name = metadata.text(KEYS.pre);
  const found = PRE_TOKENIZERS.find(({ names }) => name !== undefined && names.includes(name));
  if (found !== undefined) return found;
  const known = PRE_TOKENIZERS.flatMap(({ names }) => names).join(", ");
  const what = name === undefined ? `has no ${KEYS.pre}` : `${KEYS.pre} is ${JSON.stringify(name)}`;
  throw ggufUnsupported(path, `${what}, and how it cuts text is not known`, KEYS.pre, `Known are ${known}.`);
}

function mergesOf({ metadata, path }: Source): [string, string][] {
  const merges = metadata.texts(KEYS.merges);
  if (merges === undefined) throw ggufCorrupt(path, `has no ${KEYS.merges}`, KEYS.merges);
  return merges.map((merge, index) => {
    const [left, right, ...more] = merge.split(" ");
    if (left && right && more.length === 0) return [left, right];
    throw ggufCorrupt(path, `: entry ${index} of ${KEYS.merges} is no pair of pieces`, KEYS.merges);
  });
}

function startBefore(content: string, id: number): object {
  const token = { SpecialToken: { id: content, type_id: 0 } };
  return {
    type: "TemplateProcessing",
    single: [token, { Sequence: { id: "A", type_id: 0 } }],
    pair: [token, { Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 0 } }],
    special_tokens: { [content]: { id: content, ids: [id], tokens: [content] } },
  };
}

const SPECIAL = {
  bos_token: "tokenizer.ggml.bos_token_id",
  eos_token: "tokenizer.ggml.eos_token_id",
  unk_token: "tokenizer.ggml.unknown_token_id",
  pad_token: "tokenizer.ggml.padding_token_id",
} as const;

function specialTokens(
  { metadata, path }: Source,
  tokens: readonly string[],
): Partial<Record<keyof typeof SPECIAL, string>> {
  const found: Partial<Record<keyof typeof SPECIAL, string>> = {};
  for (const [name, key] of Object.entries(SPECIAL) as [keyof typeof SPECIAL, string][]) {
    const id = metadata.number(key);
    if (id === undefined) continue;
    const token = tokens[id];
    if (token === undefined)
      throw ggufCorrupt(path, `: ${key} is ${id}, and there are ${tokens.length} tokens`, key);
    found[name] = token;
  }
  return found;
}

function chatTemplate(metadata: GgufMetadata): { chat_template?: unknown } {
  const template = metadata.text(KEYS.template);
  if (template === undefined) return {};
  const withTools = metadata.text(`${KEYS.template}.tool_use`);
  if (withTools === undefined) return { chat_template: template };
  return {
    chat_template: [
      { name: "default", template },
      { name: "tool_use", template: withTools },
    ],
  };
}

function endIds(metadata: GgufMetadata, { tokens, types }: Vocabulary): number[] {
  const named = ["eos", "eot", "eom"].flatMap(
    (name) => metadata.number(`tokenizer.ggml.${name}_token_id`) ?? [],
  );
  const known = ENDS.map((token) => tokens.indexOf(token)).filter((id) => types[id] === TOKEN_TYPE.CONTROL);
  return [...new Set([...named, ...known])];
}
