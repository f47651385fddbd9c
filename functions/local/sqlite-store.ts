import { SpotterError } from "../../sdk/schema/errors.ts";
import type {
  Document,
  DocumentKey,
  IndexEntry,
  PutOptions,
  QueryOptions,
  QueryPage,
  Store,
  StreamEntry,
} from "../ports/store.ts";
import { checkEntries, checkKey } from "../ports/store-keys.ts";
import { encodeValue } from "../ports/store-values.ts";
import { Connection } from "./sqlite-store/connection.ts";
import { countEntries, queryEntries, queryPartition, toDocument } from "./sqlite-store/queries.ts";
import { appendBatch, deleteStream, readStream } from "./sqlite-store/streams.ts";
import { checksumOf } from "./sqlite-store/values.ts";

export interface SqliteStoreOptions {
  /**
   * "normal" (default): a crash of the process loses nothing, a power cut may lose the last moments.
   * "full": every write waits for the disk, about twenty times slower.
   */
  synchronous?: "normal" | "full";
  /** Writes that would make the file larger are `disk_full`. Default: as large as the disk allows. */
  maxMiB?: number;
}

/**
 * The Store of one machine: one SQLite file. Calls are synchronous inside (tens of microseconds), so the
 * answers are always those of a single moment; other processes may have the same file open.
 */
export class SqliteStore implements Store {
  readonly #connection: Connection;

  /** Opens or creates the file. `state_too_new`, `state_unreadable` or `disk_full` if that cannot be. */
  constructor(path: string, options: SqliteStoreOptions = {}) {
    this.#connection = new Connection(path, options.synchronous ?? "normal", options.maxMiB);
  }

  async get<T>(key: DocumentKey): Promise<Document<T> | undefined> {
    checkKey(key);
    const row = this.#connection.get(
      "SELECT partition, sort, version, value, crc FROM documents WHERE partition = ? AND sort = ?",
      key.partition,
      key.sort,
    );
    return row === undefined ? undefined : toDocument<T>(row);
  }

  async put(key: DocumentKey, value: unknown, options: PutOptions = {}): Promise<number> {
    checkKey(key);
    if (options.indexes !== undefined) checkEntries(options.indexes);
    const text = encodeValue(value, `${key.partition}/${key.sort}`);
    return this.#connection.transaction(() => {
      const version = this.#expect(key, options.ifVersion) + 1;
      this.#connection.run(
        `INSERT INTO documents (partition, sort, version, value, crc) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET version = excluded.version, value = excluded.value, crc = excluded.crc`,
        key.partition,
        key.sort,
        version,
        text,
        checksumOf(text),
      );
      if (options.indexes !== undefined) this.#replaceEntries(key, options.indexes);
      return version;
    });
  }

  async delete(key: DocumentKey, options: { ifVersion?: number } = {}): Promise<void> {
    checkKey(key);
    this.#connection.transaction(() => {
      this.#expect(key, options.ifVersion);
      this.#connection.run("DELETE FROM documents WHERE partition = ? AND sort = ?", key.partition, key.sort);
      this.#replaceEntries(key, []);
    });
  }

  async query<T>(partition: string, options: QueryOptions = {}): Promise<QueryPage<T>> {
    return queryPartition(this.#connection, partition, options);
  }

  async queryIndex<T>(index: string, partition: string, options: QueryOptions = {}): Promise<QueryPage<T>> {
    return queryEntries(this.#connection, index, partition, options);
  }

  async countIndex(index: string, partition: string): Promise<number> {
    return countEntries(this.#connection, index, partition);
  }

  async append(stream: string, events: unknown[], options: { batchId?: string } = {}): Promise<number> {
    return appendBatch(this.#connection, stream, events, options.batchId);
  }

  async read(stream: string, afterSeq: number, limit: number): Promise<StreamEntry[]> {
    return readStream(this.#connection, stream, afterSeq, limit);
  }

  async deleteStream(stream: string): Promise<void> {
    deleteStream(this.#connection, stream);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  /** The stored version, 0 if there is none; `store_conflict` if it is not the expected one. */
  #expect(key: DocumentKey, expected: number | undefined): number {
    const row = this.#connection.get(
      "SELECT version FROM documents WHERE partition = ? AND sort = ?",
      key.partition,
      key.sort,
    );
    const version = Number(row?.["version"] ?? 0);
    if (expected === undefined || expected === version) return version;
    throw new SpotterError(
      "store_conflict",
      `${key.partition}/${key.sort} has version ${version}, not ${expected}.`,
      {
        where: `${key.partition}/${key.sort}`,
        retryable: true,
        hint: "Read it again and repeat the change.",
      },
    );
  }

  #replaceEntries(key: DocumentKey, entries: readonly IndexEntry[]): void {
    this.#connection.run("DELETE FROM entries WHERE partition = ? AND sort = ?", key.partition, key.sort);
    for (const entry of entries) {
      this.#connection.run(
        "INSERT INTO entries (name, index_partition, index_sort, partition, sort) VALUES (?, ?, ?, ?, ?)",
        entry.index,
        entry.partition,
        entry.sort,
        key.partition,
        key.sort,
      );
    }
  }
}
