import type {
  Document,
  DocumentKey,
  IndexEntry,
  QueryOptions,
  QueryPage,
  Store,
} from "../../functions/ports/store.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

interface Kept {
  document: Document;
  indexes: IndexEntry[];
}

/** A store that runs anywhere, for tests of what is above it. Keys are ASCII there: text order is byte order. */
export function memoryStore(): Store {
  const kept = new Map<string, Kept>();
  const streams = new Map<string, { events: unknown[]; batches: Map<string, number> }>();

  function check(key: DocumentKey, ifVersion: number | undefined): number {
    const version = kept.get(textOf(key))?.document.version ?? 0;
    if (ifVersion === undefined || ifVersion === version) return version;
    throw new SpotterError("store_conflict", `${textOf(key)} is at version ${version}, not ${ifVersion}.`);
  }

  return {
    get: async <T>(key: DocumentKey) => copy(kept.get(textOf(key))?.document) as Document<T> | undefined,
    async put(key, value, { ifVersion, indexes } = {}) {
      const version = check(key, ifVersion) + 1;
      const before = kept.get(textOf(key))?.indexes ?? [];
      kept.set(textOf(key), { document: copy({ key, value, version }), indexes: indexes ?? before });
      return version;
    },
    async delete(key, { ifVersion } = {}) {
      check(key, ifVersion);
      kept.delete(textOf(key));
    },
    async query<T>(partition: string, options?: QueryOptions) {
      const found = [...kept.values()].filter(({ document }) => document.key.partition === partition);
      return page<T>(
        found.map(({ document }) => ({ sort: document.key.sort, document })),
        options,
      );
    },
    async queryIndex<T>(index: string, partition: string, options?: QueryOptions) {
      const found = [...kept.values()].flatMap(({ document, indexes }) =>
        indexes
          .filter((entry) => entry.index === index && entry.partition === partition)
          .map(({ sort }) => ({ sort, document })),
      );
      return page<T>(found, options);
    },
    async countIndex(index, partition) {
      const all = [...kept.values()].flatMap(({ indexes }) => indexes);
      return all.filter((entry) => entry.index === index && entry.partition === partition).length;
    },
    async append(name, events, { batchId } = {}) {
      const stream = streams.get(name) ?? { events: [], batches: new Map<string, number>() };
      streams.set(name, stream);
      const known = batchId === undefined ? undefined : stream.batches.get(batchId);
      if (known !== undefined) return known;
      stream.events.push(...copy(events));
      if (batchId !== undefined) stream.batches.set(batchId, stream.events.length);
      return stream.events.length;
    },
    async read(name, afterSeq, limit) {
      const events = streams.get(name)?.events.slice(afterSeq, afterSeq + limit) ?? [];
      return events.map((value, index) => ({ seq: afterSeq + index + 1, value: copy(value) }));
    },
    deleteStream: async (name) => void streams.delete(name),
    close: async () => {},
  };
}

function page<T>(found: { sort: string; document: Document }[], options: QueryOptions = {}): QueryPage<T> {
  const { sortPrefix = "", after, limit = 100, reverse = false } = options;
  const direction = reverse ? -1 : 1;
  const cursorOf = ({ sort, document }: (typeof found)[number]) => `${sort}\u0000${textOf(document.key)}`;
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0) * direction;
  const rest = found
    .filter((each) => each.sort.startsWith(sortPrefix))
    .sort((a, b) => compare(cursorOf(a), cursorOf(b)))
    .filter((each) => after === undefined || compare(cursorOf(each), after) > 0);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(({ document }) => copy(document) as Document<T>),
    ...(last && rest.length > limit && { next: cursorOf(last) }),
  };
}

function textOf({ partition, sort }: DocumentKey): string {
  return JSON.stringify([partition, sort]);
}

/** Nobody may change what is kept, or be surprised by what JSON does to it. */
function copy<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
