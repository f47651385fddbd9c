import type {
  Document,
  DocumentKey,
  PutOptions,
  QueryOptions,
  QueryPage,
  Store,
  StreamEntry,
} from "../ports/store.ts";
import { AppendQueue } from "./dynamo-store/append-queue.ts";
import { deleteDocument, getDocument, putDocument } from "./dynamo-store/documents.ts";
import { INDEX_SLOTS, type IndexSlots } from "./dynamo-store/indexes.ts";
import { countEntries, queryEntries, queryPartition } from "./dynamo-store/queries.ts";
import { appendBatch, deleteStream, readStream } from "./dynamo-store/streams.ts";
import { Table, type TableOptions } from "./dynamo-store/table.ts";

interface DynamoStoreOptions extends TableOptions {
  /** Default: {@link INDEX_SLOTS}. */
  indexSlots?: IndexSlots;
}

/**
 * The Store on AWS: one DynamoDB table, one conditional request for each write. Documents and streams are
 * read as they are at that moment; what `queryIndex` and `countIndex` tell may be a second old, because
 * DynamoDB brings its indexes up to date after the write.
 *
 * The AWS SDK is loaded by the first call. A table that cannot be used is `aws_resource_missing`,
 * `aws_denied`, `aws_throttled` or `aws_unreachable`.
 */
export class DynamoStore implements Store {
  readonly #table: Table;
  readonly #slots: IndexSlots;
  readonly #appends = new AppendQueue();

  constructor(options: DynamoStoreOptions) {
    this.#table = new Table(options);
    this.#slots = options.indexSlots ?? INDEX_SLOTS;
  }

  async get<T>(key: DocumentKey): Promise<Document<T> | undefined> {
    return getDocument<T>(this.#table, key);
  }

  async put(key: DocumentKey, value: unknown, options: PutOptions = {}): Promise<number> {
    return putDocument(this.#table, this.#slots, key, value, options);
  }

  async delete(key: DocumentKey, options: { ifVersion?: number } = {}): Promise<void> {
    await deleteDocument(this.#table, key, options.ifVersion);
  }

  async query<T>(partition: string, options: QueryOptions = {}): Promise<QueryPage<T>> {
    return queryPartition<T>(this.#table, partition, options);
  }

  async queryIndex<T>(index: string, partition: string, options: QueryOptions = {}): Promise<QueryPage<T>> {
    return queryEntries<T>(this.#table, this.#slots, index, partition, options);
  }

  async countIndex(index: string, partition: string): Promise<number> {
    return countEntries(this.#table, this.#slots, index, partition);
  }

  async append(stream: string, events: unknown[], options: { batchId?: string } = {}): Promise<number> {
    const { seq } = await this.#appends.run(stream, (next) =>
      appendBatch(this.#table, stream, events, options.batchId, next),
    );
    return seq;
  }

  async read(stream: string, afterSeq: number, limit: number): Promise<StreamEntry[]> {
    return readStream(this.#table, stream, afterSeq, limit);
  }

  async deleteStream(stream: string): Promise<void> {
    // In line with the appends, so that none of this process puts its batch behind what is deleted.
    await this.#appends.run(stream, async () => {
      await deleteStream(this.#table, stream);
      return {};
    });
  }

  async close(): Promise<void> {
    await this.#table.close();
  }
}
