import { parse } from "@humanwhocodes/momoa";
import { parseExactly } from "../../schema/exact-json.ts";

/** A word that Python writes where JSON has none; the first half skips texts. */
const NOT_FINITE = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;
/** A whole number of 16 digits or more may lie above 2^53. */
const MANY_DIGITS = /[:[,]\s*-?\d{16}/;
const WHOLE_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

export type RowJson = { value: unknown; notFinite?: boolean } | { error: string; column: number };

/** One line as JSON; NaN and Infinity, which Python reads and writes, become null. */
export function rowJson(text: string): RowJson {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return repaired(text) ?? { error: words(error), column: column(error, text) };
  }
}

function repaired(text: string): RowJson | undefined {
  if (!/NaN|Infinity/.test(text)) return undefined;
  const mended = text.replace(NOT_FINITE, (found) => (found.startsWith('"') ? found : "null"));
  try {
    return { value: JSON.parse(mended) as unknown, notFinite: true };
  } catch {
    return undefined;
  }
}

/** The same, with whole numbers that JavaScript cannot hold as `parseExactly` has them. */
export function exactRowJson(text: string): RowJson {
  try {
    return { value: parseExactly(text) };
  } catch {
    return rowJson(text);
  }
}

/** The first whole number that JavaScript cannot hold exactly, and its column (from 1). */
export function inexactNumber(text: string): { digits: string; column: number } | undefined {
  if (!MANY_DIGITS.test(text)) return undefined;
  for (const match of text.matchAll(WHOLE_NUMBER)) {
    const [found] = match;
    if (!/^-?\d{16,}$/.test(found) || BigInt(found) === BigInt(Number(found))) continue;
    return { digits: found, column: match.index + 1 };
  }
  return undefined;
}

function words(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // V8 quotes the text around the place, which may be long.
  return text
    .replace(/,? ?(?:\.\.\.)?".*" is not valid JSON$/s, "")
    .replace(/ in JSON at position \d+.*$/s, "");
}

function column(error: unknown, text: string): number {
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  if (position !== undefined) return Number(position) + 1;
  // Of an unexpected letter V8 gives no position.
  try {
    parse(text, { mode: "json" });
    return 1;
  } catch (fault) {
    return (fault as { column?: number }).column ?? 1;
  }
}
