import { SpotterError } from "../../sdk/schema/errors.ts";
import type { DocumentKey, IndexEntry } from "./store.ts";

const MAX_PARTITION_BYTES = 2048;
const MAX_SORT_BYTES = 1024;
const DEFAULT_LIMIT = 100;

/** The limits that every Store shares (they are DynamoDB's), so that code does not work on one home only. */
export function checkKey(key: DocumentKey): void {
  checkPart("partition", key.partition, MAX_PARTITION_BYTES);
  checkPart("sort", key.sort, MAX_SORT_BYTES);
}

export function checkPart(name: string, text: string, maxBytes = MAX_PARTITION_BYTES): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > 0 && bytes <= maxBytes && text.isWellFormed() && !text.includes("\0")) return;
  throw new SpotterError("invalid_input", `${JSON.stringify(text.slice(0, 80))} cannot be a store key.`, {
    where: name,
    hint: `Keys are well-formed text without NUL, 1 to ${maxBytes} bytes long.`,
  });
}

export function checkEntries(entries: readonly IndexEntry[]): void {
  const names = new Set<string>();
  for (const entry of entries) {
    checkPart("index", entry.index);
    checkKey(entry);
    if (names.has(entry.index)) {
      throw new SpotterError("invalid_input", `Two entries for the index "${entry.index}" in one put.`, {
        where: "indexes",
        hint: "A document has at most one entry in an index.",
      });
    }
    names.add(entry.index);
  }
}

/** The number of items in a page, the default where nobody says one. */
export function checkLimit(limit = DEFAULT_LIMIT): number {
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new SpotterError("invalid_input", `A page of ${limit} items is not possible.`, {
    where: "limit",
    hint: "Use a whole number above 0.",
  });
}
