/**
 * What bytes a token stands for. Text is decoded from bytes, not through the tokenizer library, so that a
 * stream never cuts a character in two and each token's exact bytes can be reported.
 *
 * @module
 */

/** The parts of a tokenizer.json `decoder` that say how pieces are written. */
export interface DecoderConfig {
  type: string;
  decoders?: DecoderConfig[];
  /** Metaspace. */
  replacement?: string;
}

export interface PieceDecoder {
  bytesOf(piece: string): Uint8Array;
  /** The tokenizer puts a space before all text, which decoding takes away again. */
  stripsLeadingSpace: boolean;
}

/** undefined where the kind of decoder is not known. */
export function pieceDecoder(config: DecoderConfig | null | undefined): PieceDecoder | undefined {
  const steps = flatten(config ?? undefined);
  const kinds = new Set(steps.map((step) => step.type));
  if (kinds.has("ByteLevel")) return { bytesOf: byteLevelBytes, stripsLeadingSpace: false };
  if (kinds.has("ByteFallback"))
    return { bytesOf: byteFallbackBytes, stripsLeadingSpace: kinds.has("Strip") };
  if (kinds.has("Metaspace")) return { bytesOf: metaspaceBytes, stripsLeadingSpace: true };
  return undefined;
}

function flatten(config: DecoderConfig | undefined): DecoderConfig[] {
  if (config === undefined) return [];
  return config.type === "Sequence" ? (config.decoders ?? []).flatMap(flatten) : [config];
}

/** GPT-2's byte alphabet: printable bytes stand for themselves, the others for U+0100 and up, in order. */
const BYTE_OF = new Map<string, number>(byteAlphabet());
const encoder = new TextEncoder();

function byteLevelBytes(piece: string): Uint8Array {
  const bytes: number[] = [];
  for (const letter of piece) {
    const byte = BYTE_OF.get(letter);
    if (byte === undefined) bytes.push(...encoder.encode(letter));
    else bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** SentencePiece: `▁` is a space, `<0x0A>` a byte. */
function byteFallbackBytes(piece: string): Uint8Array {
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece)?.[1];
  return byte === undefined ? metaspaceBytes(piece) : Uint8Array.of(Number.parseInt(byte, 16));
}

function metaspaceBytes(piece: string): Uint8Array {
  return encoder.encode(piece.replaceAll("\u2581", " "));
}

function* byteAlphabet(): Generator<[string, number]> {
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    yield [String.fromCodePoint(printable ? byte : next++), byte];
  }
}
