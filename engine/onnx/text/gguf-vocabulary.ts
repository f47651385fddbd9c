/**
 * A Hugging Face tokenizer as the metadata of a GGUF file.
 *
 * @module
 */
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { GgufValue } from "../weights/gguf/write-gguf.ts";
import { PRE_TOKENIZERS } from "./gguf-pre-tokenizers.ts";
import { KEYS, TOKEN_TYPE, WHOLE_TOKENIZER } from "./gguf-tokenizer.ts";
import type { ModelTexts } from "./model-texts.ts";

export interface GgufVocabulary {
  metadata: Map<string, GgufValue>;
  /** What a reader of the file will do otherwise than the tokenizer. */
  warnings: string[];
}

/** What is read of tokenizer.json. */
interface TokenizerJson {
  added_tokens?: { id: number; content: string; special?: boolean }[];
  pre_tokenizer?: Step | null;
  post_processor?: { type?: string; single?: { SpecialToken?: { id: string } }[] } | null;
  decoder?: { type?: string } | null;
  model?: { type?: string; vocab?: Record<string, number>; merges?: (string | [string, string])[] };
}

interface Step {
  type?: string;
  pretokenizers?: Step[];
  pattern?: { Regex?: string };
  individual_digits?: boolean;
  use_regex?: boolean;
}

/** The nearest there is for a cut that has no name: single digits, words, punctuation and white space. */
const NEAREST = "smollm";

/**
 * @param size rows of the embedding; ids without a token are filled up
 * @throws SpotterError `model_unsupported` for a tokenizer that is no byte-level BPE.
 */
export function ggufVocabulary(texts: ModelTexts, size: number): GgufVocabulary {
  const tokenizer = texts.tokenizer as TokenizerJson;
  const { model } = tokenizer;
  const decoders = JSON.stringify(tokenizer.decoder ?? {});
  if (model?.type !== "BPE" || !decoders.includes('"ByteLevel"')) {
    throw new SpotterError(
      "model_unsupported",
      "The tokenizer is no byte-level BPE, and a GGUF file is not written for it.",
      {
        where: "tokenizer.json",
        hint: "Export with --format hf.",
      },
    );
  }
  const { tokens, types } = listed(tokenizer, size);
  const merges = (model.merges ?? []).map((merge) => (typeof merge === "string" ? merge : merge.join(" ")));
  const pre = preTokenizerName(tokenizer.pre_tokenizer);
  const metadata = new Map<string, GgufValue>([
    [KEYS.model, { type: "string", value: "gpt2" }],
    [KEYS.pre, { type: "string", value: pre ?? NEAREST }],
    [KEYS.tokens, { type: "strings", value: tokens }],
    [KEYS.types, { type: "int32s", value: types }],
    [KEYS.merges, { type: "strings", value: merges }],
    ...specialTokens(texts, tokens),
    [KEYS.addStart, { type: "bool", value: addsStart(tokenizer) }],
    ...chatTemplate(texts.chatTemplate),
  ]);
  if (pre !== undefined) return { metadata, warnings: [] };
  metadata.set(WHOLE_TOKENIZER, { type: "string", value: JSON.stringify(texts.tokenizer) });
  const warning = `llama.cpp has no name for how this tokenizer cuts text; it will cut as ${NEAREST} does, which differs in places. Spotter reads the file as it is meant.`;
  return { metadata, warnings: [warning] };
}

function listed(
  { added_tokens: added = [], model }: TokenizerJson,
  size: number,
): { tokens: string[]; types: number[] } {
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = tokens.map((): number => TOKEN_TYPE.UNUSED);
  const put = (id: number, token: string, type: number): void => {
    if (id >= size) return;
    tokens[id] = token;
    types[id] = type;
  };
  for (const [token, id] of Object.entries(model?.vocab ?? {})) put(id, token, TOKEN_TYPE.NORMAL);
  for (const { id, content, special } of added)
    put(id, content, special === true ? TOKEN_TYPE.CONTROL : TOKEN_TYPE.USER_DEFINED);
  return { tokens, types };
}

function preTokenizerName(cut: Step | null | undefined): string | undefined {
  const wanted = signature(cut);
  return PRE_TOKENIZERS.find(({ preTokenizer }) => signature(preTokenizer) === wanted)?.names[0];
}

/** What a pre-tokenizer does, without what only says where in a text a token lies. */
function signature(step: Step | null | undefined): string {
  if (!step) return "";
  if (step.type === "Sequence") return (step.pretokenizers ?? []).map(signature).join(" then ");
  if (step.type === "Split") return `split ${step.pattern?.Regex ?? ""}`;
  if (step.type === "Digits") return `digits ${step.individual_digits ?? false}`;
  return `${step.type} ${step.use_regex ?? true}`;
}

function addsStart({ post_processor: after }: TokenizerJson): boolean {
  const steps = JSON.stringify(after ?? {});
  return steps.includes('"TemplateProcessing"') && /"single":\[\{"SpecialToken"/.test(steps);
}

function* specialTokens(texts: ModelTexts, tokens: readonly string[]): Generator<[string, GgufValue]> {
  const { special, endIds } = texts;
  const named = {
    bos: special.bos_token,
    eos: special.eos_token,
    unknown: special.unk_token,
    padding: special.pad_token,
  };
  const ids = new Map<string, number>();
  for (const [name, token] of Object.entries(named)) {
    const id = token === undefined ? -1 : tokens.indexOf(token);
    if (id >= 0) ids.set(name, id);
  }
  const [first, ...others] = endIds;
  if (!ids.has("eos") && first !== undefined) ids.set("eos", first);
  const turn = [first, ...others].find((id) => id !== undefined && id !== ids.get("eos"));
  if (turn !== undefined) ids.set("eot", turn);
  for (const [name, value] of ids) yield [`tokenizer.ggml.${name}_token_id`, { type: "uint32", value }];
}

function* chatTemplate(source: ModelTexts["chatTemplate"]): Generator<[string, GgufValue]> {
  if (source === undefined) return;
  if (typeof source === "string") {
    yield [KEYS.template, { type: "string", value: source }];
    return;
  }
  const usual = source.find(({ name }) => name === "default") ?? source[0];
  if (usual !== undefined) yield [KEYS.template, { type: "string", value: usual.template }];
  const others = source.filter((each) => each !== usual);
  if (others.length > 0)
    yield [`${KEYS.template}s`, { type: "strings", value: others.map(({ name }) => name) }];
  for (const { name, template } of others)
    yield [`${KEYS.template}.${name}`, { type: "string", value: template }];
}
