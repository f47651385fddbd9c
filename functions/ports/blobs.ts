/** Files by key: content-addressed small things, checkpoints, rollouts. Keys are relative paths with `/`. */

export interface BlobInfo {
  key: string;
  size: number;
}

/** A part that was uploaded: its number, from 1 on, and the ETag header that its upload was answered with. */
export interface UploadedPart {
  partNumber: number;
  etag: string;
}

/** Smaller files are as well off through the control plane. */
export const DIRECT_FROM_BYTES = 1024 * 1024;

/** Transfers between a container and the home of the blobs itself, past the control plane. */
export interface DirectTransfers {
  /** All parts but the last have at least this many bytes; there are at most `maxParts`. */
  readonly minPartBytes: number;
  readonly maxParts: number;
  /** What goes in one request; larger files go in parts. */
  readonly maxPutBytes: number;
  /** A URL that anybody may GET until `ttlS` seconds are over; byte ranges work. The blob may not exist. */
  presignGet(key: string, ttlS: number): Promise<string>;
  /**
   * A URL to PUT exactly the content of this hash to, with `headers` along, until `ttlS` seconds are over. The home
   * refuses what hashes otherwise, and the blob is visible when all of it has arrived.
   */
  presignPut(
    key: string,
    sha256: string,
    ttlS: number,
  ): Promise<{ url: string; headers: Record<string, string> }>;
  /** Begins an upload in parts; the blob is visible after `completeUpload` and not before. */
  createUpload(key: string): Promise<string>;
  /** A URL to PUT the bytes of one part to, until `ttlS` seconds are over. */
  presignPart(key: string, uploadId: string, partNumber: number, ttlS: number): Promise<string>;
  /**
   * Makes the blob of its parts, in ascending order. Safe to repeat. Nobody hashed the whole: who has a hash to
   * keep compares it on reading.
   */
  completeUpload(key: string, uploadId: string, parts: readonly UploadedPart[]): Promise<BlobInfo>;
  /** Gives the upload up and frees its parts; no error if there is none any more. */
  abortUpload(key: string, uploadId: string): Promise<void>;
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
  /** Only where the home can be reached without the control plane; absent on one machine. */
  readonly direct?: DirectTransfers;
}
