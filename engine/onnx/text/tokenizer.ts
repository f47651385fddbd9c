import { join } from "node:path";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { readModelText } from "../weights/model-file.ts";
import { HubTokenizer } from "./hub-tokenizer.ts";
import { StreamDecoder } from "./stream-decoder.ts";
import { pieceDecoder, type DecoderConfig, type PieceDecoder } from "./token-bytes.ts";

/** The parts of tokenizer.json read here; the library reads the rest. */
interface TokenizerJson {
  added_tokens?: AddedToken[];
  decoder?: DecoderConfig | null;
  /** Pieces to ids, or pieces with their scores in the order of their ids. */
  model?: { vocab?: Record<string, number> | [string, number][] };
}

interface AddedToken {
  id: number;
  content: string;
  special?: boolean;
}

/**
 * Text to token ids and back, from a Hugging Face tokenizer.json.
 *
 * @example
 * const tokenizer = await Tokenizer.load("engine/models/nano");
 * tokenizer.decode(tokenizer.encode("An old pond")); // "An old pond"
 */
export class Tokenizer {
  readonly #hub: HubTokenizer;
  readonly #pieces: PieceDecoder;
  readonly #added = new Map<number, { content: string; special: boolean }>();
  readonly #bytes = new Map<number, Uint8Array>();
  readonly #vocabulary: NonNullable<NonNullable<TokenizerJson["model"]>["vocab"]>;
  #longest: number | undefined;

  /**
   * From the parsed contents of tokenizer.json and tokenizer_config.json.
   *
   * @throws SpotterError `model_corrupt`, or `model_unsupported` for a way of writing text it does not know.
   */
  constructor(tokenizerJson: object, config: object, file = "tokenizer.json") {
    const { decoder, added_tokens: added = [], model } = tokenizerJson as TokenizerJson;
    const pieces = pieceDecoder(decoder);
    if (pieces === undefined) throw unknownDecoder(file, decoder);
    try {
      this.#hub = new HubTokenizer(tokenizerJson, config);
    } catch (cause) {
      throw corrupt(file, cause);
    }
    this.#pieces = pieces;
    this.#vocabulary = model?.vocab ?? {};
    for (const token of added)
      this.#added.set(token.id, { content: token.content, special: isControl(token) });
  }

  /** @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`. */
  static async load(modelDir: string): Promise<Tokenizer> {
    const file = join(modelDir, "tokenizer.json");
    const [tokenizerJson, config] = await Promise.all([
      readObject(file),
      readObject(join(modelDir, "tokenizer_config.json"), {}),
    ]);
    return new Tokenizer(tokenizerJson, config, file);
  }

  /** Token ids of a text. Control tokens written in it are recognised; none is added. */
  encode(text: string): number[] {
    return text === "" ? [] : this.#hub.encode(text, { add_special_tokens: false }).ids;
  }

  /**
   * False where a text has more than `maxTokens` tokens even if each were the longest there is. Encoding
   * takes seconds per megabyte and holds up everything else; this does not.
   */
  mayFit(text: string, maxTokens: number): boolean {
    const bytes = Buffer.byteLength(text);
    return bytes <= maxTokens || bytes <= maxTokens * this.#longestToken();
  }

  /** As {@link encode}, with the tokens the model expects around a bare text (such as a start token). */
  encodeDocument(text: string): number[] {
    return this.#hub.encode(text, { add_special_tokens: true }).ids;
  }

  /** Text of token ids. Control tokens are left out unless `special` is true. */
  decode(ids: readonly number[], options: { special?: boolean } = {}): string {
    const decoder = this.stream(options);
    return ids.map((id) => decoder.push(id)).join("") + decoder.end();
  }

  /** Decodes token by token. */
  stream(options: { special?: boolean } = {}): StreamDecoder {
    const bytesOf = (id: number): Uint8Array =>
      this.isSpecial(id) && options.special !== true ? new Uint8Array() : this.bytesOf(id);
    return new StreamDecoder(bytesOf, this.#pieces.stripsLeadingSpace);
  }

  /** The bytes a token stands for; not always whole characters. Empty for ids outside the vocabulary. */
  bytesOf(id: number): Uint8Array {
    const known = this.#bytes.get(id);
    if (known !== undefined) return known;
    const added = this.#added.get(id);
    const piece = added === undefined ? this.#hub.id_to_token(id) : undefined;
    const bytes =
      added === undefined ? this.#pieces.bytesOf(piece ?? "") : new TextEncoder().encode(added.content);
    this.#bytes.set(id, bytes);
    return bytes;
  }

  /** Whether a token is a control token, which is not part of the text. */
  isSpecial(id: number): boolean {
    return this.#added.get(id)?.special === true;
  }

  idOf(token: string): number | undefined {
    return this.#hub.token_to_id(token);
  }

  /** In bytes. Only a long text asks for it, so most processes never go through the vocabulary. */
  #longestToken(): number {
    if (this.#longest !== undefined) return this.#longest;
    let longest = 1;
    for (const { content } of this.#added.values()) longest = Math.max(longest, Buffer.byteLength(content));
    const pieces = Array.isArray(this.#vocabulary)
      ? this.#vocabulary.map(([piece]) => piece)
      : Object.keys(this.#vocabulary);
    for (const piece of pieces) longest = Math.max(longest, this.#pieces.bytesOf(piece).length);
    this.#longest = longest;
    return longest;
  }
}

/**
 * What each token of a tokenizer.json writes, by id; control tokens write nothing. Costs a fraction of a
 * {@link Tokenizer}, which also learns how to split text.
 */
export async function tokenBytes(file: string): Promise<(Uint8Array | undefined)[]> {
  return tokenBytesOf(await readObject(file), file);
}

/** As {@link tokenBytes}, from parsed JSON; `file` is what errors name. */
export function tokenBytesOf(tokenizerJson: object, file: string): (Uint8Array | undefined)[] {
  const { decoder, added_tokens: added = [], model } = tokenizerJson as TokenizerJson;
  const pieces = pieceDecoder(decoder);
  if (pieces === undefined) throw unknownDecoder(file, decoder);
  const bytes: (Uint8Array | undefined)[] = [];
  const vocabulary = model?.vocab ?? {};
  const pairs = Array.isArray(vocabulary)
    ? vocabulary.map(([piece], id) => [piece, id] as const)
    : Object.entries(vocabulary);
  for (const [piece, id] of pairs) bytes[id] = pieces.bytesOf(piece);
  for (const token of added)
    bytes[token.id] = isControl(token) ? undefined : new TextEncoder().encode(token.content);
  return bytes;
}

/** Parses a JSON file that holds an object; a missing file is `fallback`, where there is one. */
export async function readObject(file: string, fallback?: object): Promise<object> {
  const text = await readModelText(file).catch((cause: unknown) => {
    if (SpotterError.is(cause)) throw cause;
    if (fallback !== undefined) return undefined;
    throw new SpotterError("model_not_found", `${file} cannot be read.`, {
      where: file,
      hint: "Give a folder with config.json, model.safetensors and tokenizer.json.",
      cause,
    });
  });
  if (text === undefined) return fallback ?? {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw corrupt(file, cause);
  }
  if (typeof value !== "object" || value === null) throw corrupt(file, undefined);
  return value;
}

/** Tags of reasoning and tool calls, which are part of what a model says even where its tokenizer calls them special. */
const SAID = new Set(["<think>", "</think>", "<tool_call>", "</tool_call>", "<|python_tag|>"]);

function isControl({ content, special }: AddedToken): boolean {
  return special === true && !SAID.has(content);
}

function unknownDecoder(file: string, decoder: DecoderConfig | null | undefined): SpotterError {
  return new SpotterError("model_unsupported", `${file}: cannot decode ${decoder?.type ?? "no decoder"}.`, {
    where: `${file}: decoder`,
    hint: "Use a model with a byte-level BPE or SentencePiece BPE tokenizer.",
  });
}

function corrupt(file: string, cause: unknown): SpotterError {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return new SpotterError("model_corrupt", `${file} cannot be used${why}.`, {
    where: file,
    hint: "Download the model again.",
    cause,
  });
}
