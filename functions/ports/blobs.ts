/** Files by key: content-addressed small things, checkpoints, rollouts. Keys are relative paths with `/`. */

export interface BlobInfo {
  key: string;
  size: number;
}

export interface Blobs {
  /** Visible only when complete. With `sha256`, a body that hashes otherwise is `blob_corrupt` and not kept. */
  put(
    key: string,
    body: Uint8Array | ReadableStream<Uint8Array>,
    options?: { sha256?: string },
  ): Promise<BlobInfo & { sha256: string }>;
  /** Undefined if there is none. `range` is [start, end) in bytes. */
  get(key: string, options?: { range?: [number, number] }): Promise<ReadableStream<Uint8Array> | undefined>;
  /** The whole blob in memory; for small things only. */
  bytes(key: string): Promise<Uint8Array | undefined>;
  head(key: string): Promise<BlobInfo | undefined>;
  list(prefix: string): Promise<BlobInfo[]>;
  delete(key: string): Promise<void>;
  /** Takes over a finished local file without copying where the home allows it (a hard link). */
  import(key: string, path: string): Promise<BlobInfo>;
  /** Where people find it: a folder or file path on one machine, an s3:// URL on AWS. */
  location(key: string): string;
}
