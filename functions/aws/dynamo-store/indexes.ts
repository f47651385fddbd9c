import { createHash } from "node:crypto";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { DocumentKey, IndexEntry } from "../../ports/store.ts";
import type { Item } from "./table.ts";

/** The table has four indexes, so a document is in at most four at a time. */
export const SLOTS = ["index1", "index2", "index3", "index4"] as const;
type Slot = (typeof SLOTS)[number];
export type IndexSlots = Readonly<Record<string, Slot>>;

/**
 * Which index of the table keeps the entries of which name. Names that one document can have at the same
 * time need different ones; names that no document has together share one.
 */
export const INDEX_SLOTS: IndexSlots = {
  "run-state": "index1",
  archived: "index1",
  deleted: "index1",
  age: "index1",
  live: "index2",
  webhooks: "index3",
  trackers: "index4",
};

const MAX_PARTITION_BYTES = 2048;
const MAX_SORT_BYTES = 1024;

/** The attributes that put a document into the indexes of its entries; slots without an entry are not there. */
export function entryAttributes(slots: IndexSlots, entries: readonly IndexEntry[], key: DocumentKey): Item {
  const attributes: Item = {};
  for (const entry of entries) {
    const slot = slotOf(slots, entry.index);
    if (attributes[`${slot}pk`] !== undefined) {
      throw new SpotterError(
        "internal",
        `Two entries of one document share ${slot}, one is ${entry.index}.`,
        {
          where: `${key.partition}/${key.sort}`,
          hint: "Give index names that a document has at the same time different slots in INDEX_SLOTS.",
        },
      );
    }
    attributes[`${slot}pk`] = { S: indexPartition(entry.index, entry.partition) };
    attributes[`${slot}sk`] = { S: indexSort(entry.sort, key) };
  }
  return attributes;
}

export function slotOf(slots: IndexSlots, index: string): Slot {
  const slot = slots[index];
  if (slot !== undefined) return slot;
  throw new SpotterError("internal", `The index "${index}" has no slot in the table.`, {
    where: index,
    hint: "Add its name to INDEX_SLOTS.",
  });
}

/** Several names share an index of the table. An encoded name has no slash, so that two never meet. */
export function indexPartition(index: string, partition: string): string {
  const text = `${encodeURIComponent(index)}/${partition}`;
  return Buffer.byteLength(text) <= MAX_PARTITION_BYTES ? text : `#${sha256(text)}`;
}

/**
 * The sort text, and then the document's key: DynamoDB gives entries with the same sort text in no known
 * order. NUL is below every byte of a key, so the order of these texts is that of the tuples.
 */
function indexSort(sort: string, key: DocumentKey): string {
  const rest = `${key.partition}\0${key.sort}`;
  for (const tail of [`\0${rest}`, `\0${sha256(rest)}`]) {
    if (Buffer.byteLength(sort) + Buffer.byteLength(tail) <= MAX_SORT_BYTES) return sort + tail;
  }
  return sort;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
