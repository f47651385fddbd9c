/**
 * Documents under (partition, sort) keys with single-item compare-and-set, and append-only streams.
 * There are no transactions over several items: DynamoDB and SQLite must mean the same.
 *
 * @module
 */

/** Texts that are not empty, well-formed Unicode, at most 2,048 (partition) and 1,024 (sort) bytes of UTF-8. */
export interface DocumentKey {
  partition: string;
  sort: string;
}

export interface Document<T = unknown> {
  key: DocumentKey;
  value: T;
  /** Grows by one with every put; 0 means "does not exist" in `ifVersion`. */
  version: number;
}

/** Declared with the put: lets `queryIndex` find documents by status and time. */
export interface IndexEntry {
  index: string;
  partition: string;
  sort: string;
}

export interface PutOptions {
  /** Only if the stored version is this one; 0: only if there is none. Else `store_conflict`. */
  ifVersion?: number;
  /**
   * Replaces all index entries of the document, at most one for each index name. Without it the entries
   * stay as they are.
   */
  indexes?: IndexEntry[];
}

export interface QueryOptions {
  sortPrefix?: string;
  /** Cursor: the `next` of the previous page of the same query. Opaque. */
  after?: string;
  /** Default 100. */
  limit?: number;
  reverse?: boolean;
}

/** In the order of the UTF-8 bytes of `sort`; documents put or deleted meanwhile may be in a page or not. */
export interface QueryPage<T = unknown> {
  items: Document<T>[];
  next?: string;
}

export interface StreamEntry {
  seq: number;
  value: unknown;
}

export interface Store {
  get<T>(key: DocumentKey): Promise<Document<T> | undefined>;
  /** Resolves to the new version. Values above {@link MAX_VALUE_BYTES} are `value_too_large`. */
  put(key: DocumentKey, value: unknown, options?: PutOptions): Promise<number>;
  /** One that is not there is fine, unless `ifVersion` says otherwise. The next put begins at version 1 again. */
  delete(key: DocumentKey, options?: { ifVersion?: number }): Promise<void>;
  query<T>(partition: string, options?: QueryOptions): Promise<QueryPage<T>>;
  queryIndex<T>(index: string, partition: string, options?: QueryOptions): Promise<QueryPage<T>>;
  /** How many documents all pages of `queryIndex` would have. */
  countIndex(index: string, partition: string): Promise<number>;
  /**
   * Adds events to a stream; a batch becomes visible as a whole. Resolves to the seq of the last one.
   * `batchId` makes it idempotent: the same id again changes nothing and resolves to the same seq.
   */
  append(stream: string, events: unknown[], options?: { batchId?: string }): Promise<number>;
  /** Events with a seq above `afterSeq`, in order; seq starts at 1. */
  read(stream: string, afterSeq: number, limit: number): Promise<StreamEntry[]>;
  /** Removes a stream and the names of its batches; the next append begins at seq 1 again. */
  deleteStream(stream: string): Promise<void>;
  close(): Promise<void>;
}

/** Largest JSON text of one document or one append. */
export const MAX_VALUE_BYTES = 350_000;
