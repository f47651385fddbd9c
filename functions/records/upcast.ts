import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Document, QueryPage, Store } from "../ports/store.ts";

type Fields = Record<string, unknown>;

/** One kind of document. What lies without `v` counts as version 0. */
export interface DocumentKind {
  /** The version this build writes. */
  version: number;
  /** `upcasts[n]` makes a document of version n one of n + 1. Pure, and kept for good: old folders have them all. */
  upcasts: Readonly<Record<number, (old: Fields) => Fields>>;
}

const FIRST: DocumentKind = { version: 1, upcasts: {} };

/** By the first part of the partition. Kinds that are not named here are at version 1. */
export const DOCUMENT_KINDS: Readonly<Record<string, DocumentKind>> = {
  // Until version 1 a spec was stored bare.
  "run-specs": { version: 1, upcasts: { 0: (spec) => ({ v: 1, spec }) } },
  uploads: { version: 1, upcasts: { 0: (begin) => ({ ...begin, v: 1 }) } },
};

/**
 * A Store whose documents are of today's shape, whatever version they were written by. They are rewritten
 * when they are next changed. A document of a newer version is `state_too_new`.
 */
export function upcasting(store: Store, kinds = DOCUMENT_KINDS): Store {
  const today = <T>(document: Document): Document<T> => upcast(kinds, document) as Document<T>;
  const page = <T>({ items, next }: QueryPage): QueryPage<T> => ({
    items: items.map((item) => today<T>(item)),
    ...(next !== undefined && { next }),
  });
  return {
    async get<T>(key: Document["key"]) {
      const document = await store.get(key);
      return document && today<T>(document);
    },
    async put(key, value, options) {
      checkVersion(kindOf(kinds, key.partition), key.partition, value);
      return store.put(key, value, options);
    },
    delete: (key, options) => store.delete(key, options),
    query: async <T>(...args: Parameters<Store["query"]>) => page<T>(await store.query(...args)),
    queryIndex: async <T>(...args: Parameters<Store["queryIndex"]>) =>
      page<T>(await store.queryIndex(...args)),
    countIndex: (index, partition) => store.countIndex(index, partition),
    append: (stream, events, options) => store.append(stream, events, options),
    read: (stream, afterSeq, limit) => store.read(stream, afterSeq, limit),
    deleteStream: (stream) => store.deleteStream(stream),
    close: () => store.close(),
  };
}

function upcast(kinds: typeof DOCUMENT_KINDS, document: Document): Document {
  const { version, upcasts } = kindOf(kinds, document.key.partition);
  let value = document.value as Fields;
  for (let at = versionOf(value); at !== version; at = versionOf(value)) {
    const next = upcasts[at];
    if (at > version || next === undefined) throw unknownVersion(document, at, version);
    value = next(value);
    if (versionOf(value) !== at + 1) throw new Error(`The upcast of version ${at} made ${versionOf(value)}`);
  }
  return value === document.value ? document : { ...document, value };
}

function kindOf(kinds: typeof DOCUMENT_KINDS, partition: string): DocumentKind {
  return kinds[partition.split("/", 1)[0] ?? ""] ?? FIRST;
}

function versionOf(value: unknown): number {
  const v = typeof value === "object" && value !== null && "v" in value ? value.v : 0;
  return typeof v === "number" ? v : 0;
}

/** Without a version, nobody could ever change its shape. */
function checkVersion({ version }: DocumentKind, partition: string, value: unknown): void {
  if (versionOf(value) === version) return;
  throw new SpotterError("internal", `A document of ${partition} must be written with v: ${version}.`);
}

function unknownVersion({ key }: Document, found: number, known: number): SpotterError {
  const name = `${key.partition}/${key.sort}`;
  return new SpotterError("state_too_new", `${name} has version ${found}; this Spotter knows ${known}.`, {
    where: name,
    hint: "Install the newer version of Spotter again, or point SPOTTER_HOME at another folder.",
  });
}
