/**
 * Trains a byte-level byte-pair encoding (Sennrich et al., arXiv:1508.07909; byte alphabet of GPT-2).
 *
 * @module
 */

/** What the text is split into before merging; no merge crosses a piece. Digits stand alone. */
export const PIECE_PATTERN = String.raw` ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

/** GPT-2's printable stand-in for each byte, indexed by the byte. */
export const byteAlphabet: readonly string[] = printableBytes();

export interface BytePairs {
  /** Byte alphabet first, then one piece per merge. */
  pieces: string[];
  merges: [string, string][];
}

interface Word {
  symbols: string[];
  count: number;
}

/** Learns merges from texts until there are `size` pieces or nothing repeats. Ties go to the earlier pair. */
export function trainBytePairs(texts: Iterable<string>, size: number): BytePairs {
  const words = countPieces(texts);
  const pieces = [...byteAlphabet].sort();
  const merges: [string, string][] = [];
  while (pieces.length < size) {
    const best = mostFrequentPair(words);
    if (!best) break;
    merges.push(best);
    // Two different pairs can spell the same piece.
    if (!pieces.includes(best.join(""))) pieces.push(best.join(""));
    for (const word of words) mergeIn(word.symbols, best);
  }
  return { pieces, merges };
}

/** Writes text in the byte alphabet. */
export function toByteAlphabet(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byteAlphabet[byte]).join("");
}

function countPieces(texts: Iterable<string>): Word[] {
  const counts = new Map<string, number>();
  const pattern = new RegExp(PIECE_PATTERN, "gu");
  for (const text of texts) {
    for (const piece of text.match(pattern) ?? []) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  return [...counts].map(([piece, count]) => ({ symbols: [...toByteAlphabet(piece)], count }));
}

function mostFrequentPair(words: readonly Word[]): [string, string] | undefined {
  // A space never occurs in the byte alphabet, so it separates the two halves of a key.
  const counts = new Map<string, number>();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const key = `${symbols[i]} ${symbols[i + 1]}`;
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
  }
  let best: string | undefined;
  let bestCount = 1;
  for (const [key, count] of counts) {
    if (count > bestCount) [best, bestCount] = [key, count];
  }
  return best?.split(" ") as [string, string] | undefined;
}

function mergeIn(symbols: string[], [left, right]: readonly [string, string]): void {
  for (let i = 0; i + 1 < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) symbols.splice(i, 2, left + right);
  }
}

function printableBytes(): string[] {
  const isPrintable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
}
