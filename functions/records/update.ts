import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Document, DocumentKey, IndexEntry, Store } from "../ports/store.ts";

export interface Change<T> {
  value: T;
  indexes?: IndexEntry[];
}

const MAX_TRIES = 20;

/**
 * Reads, changes and writes one document by compare-and-set, again when somebody else was faster.
 * `change` gets undefined where there is no document and returns undefined to leave all as it is.
 */
export async function update<T>(
  store: Store,
  key: DocumentKey,
  change: (current: Document<T> | undefined) => Change<T> | undefined | Promise<Change<T> | undefined>,
): Promise<Document<T> | undefined> {
  for (let attempt = 1; ; attempt++) {
    const current = await store.get<T>(key);
    const next = await change(current);
    if (next === undefined) return current;
    try {
      const options = { ifVersion: current?.version ?? 0, ...(next.indexes && { indexes: next.indexes }) };
      const version = await store.put(key, next.value, options);
      return { key, value: next.value, version };
    } catch (error) {
      if (!SpotterError.is(error) || error.code !== "store_conflict" || attempt >= MAX_TRIES) throw error;
    }
  }
}

/** Puts a document where there is none. Resolves to the one that is there then, which may be another's. */
export async function putFirst<T>(
  store: Store,
  key: DocumentKey,
  value: T,
  indexes: IndexEntry[] = [],
): Promise<T> {
  const document = await update<T>(store, key, (current) => (current ? undefined : { value, indexes }));
  return document?.value ?? value;
}

/** Every document a query leads to, page by page. */
export async function collect<T>(
  page: (after: string | undefined) => Promise<{ items: Document<T>[]; next?: string }>,
): Promise<T[]> {
  const values: T[] = [];
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    values.push(...items.map((item) => item.value));
    after = next;
  } while (after !== undefined);
  return values;
}
