import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { checkBlobPrefix } from "../blobs/blob-key.ts";
import { checkBlobRange } from "../blobs/blob-range.ts";
import { corruptBlob } from "../blobs/corrupt-blob.ts";
import type { BlobInfo, Blobs, DirectTransfers } from "../ports/blobs.ts";
import { Bucket, type BucketOptions } from "./s3-blobs/bucket.ts";
import { directTransfers } from "./s3-blobs/direct-transfers.ts";
import { listObjects } from "./s3-blobs/list-objects.ts";
import { MultipartUpload } from "./s3-blobs/multipart-upload.ts";
import { MAX_PARTS, MAX_PUT_BYTES, PART_BYTES, partsOf } from "./s3-blobs/parts.ts";
import { readObject } from "./s3-blobs/read-object.ts";

interface S3BlobsOptions extends BucketOptions {
  /** What others put by URL in one request. Default: 5 GiB, what S3 takes. */
  maxPutBytes?: number;
}

const READ_BYTES = 1024 * 1024;

/**
 * Blobs as objects of a bucket. What is larger than 8 MiB goes there in parts, a few at a time, and becomes
 * visible when all of it has arrived and hashes as promised.
 *
 * @example
 * const blobs = new S3Blobs({ bucket: "spotter-dev-data", prefix: "blobs" });
 */
export class S3Blobs implements Blobs {
  readonly direct: DirectTransfers;
  readonly #bucket: Bucket;

  constructor(options: S3BlobsOptions) {
    this.#bucket = new Bucket(options);
    this.direct = directTransfers(
      this.#bucket,
      (key) => this.head(key),
      options.maxPutBytes ?? MAX_PUT_BYTES,
    );
  }

  async put(
    key: string,
    body: Uint8Array | ReadableStream<Uint8Array>,
    options: { sha256?: string } = {},
  ): Promise<BlobInfo & { sha256: string }> {
    return await this.#upload(key, body, options.sha256);
  }

  async get(
    key: string,
    options: { range?: [number, number] } = {},
  ): Promise<ReadableStream<Uint8Array> | undefined> {
    const [start, end] = options.range ?? [0, Number.POSITIVE_INFINITY];
    checkBlobRange(start, end);
    if (start < end) return await readObject(this.#bucket, key, start, end);
    // S3 knows no empty range.
    return (await this.head(key)) === undefined
      ? undefined
      : (new Response(new Uint8Array()).body ?? undefined);
  }

  async bytes(key: string): Promise<Uint8Array | undefined> {
    const stream = await this.get(key);
    if (stream === undefined) return undefined;
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async head(key: string): Promise<BlobInfo | undefined> {
    const whole = this.#bucket.keyOf(key);
    const found = await this.#bucket.call<BlobInfo | "none">(
      { what: `Looking at ${this.#bucket.url(key)}`, needs: "s3:GetObject and s3:ListBucket" },
      async ({ sdk, client }) => {
        const { ContentLength } = await client.send(
          new sdk.HeadObjectCommand({ Bucket: this.#bucket.name, Key: whole }),
        );
        return { key, size: ContentLength ?? 0 };
      },
      (_name, status) => (status === 404 ? "none" : undefined),
    );
    return found === "none" ? undefined : found;
  }

  async list(prefix: string): Promise<BlobInfo[]> {
    checkBlobPrefix(prefix);
    return await listObjects(this.#bucket, prefix);
  }

  async delete(key: string): Promise<void> {
    const whole = this.#bucket.keyOf(key);
    await this.#bucket.call(
      { what: `Deleting ${this.#bucket.url(key)}`, needs: "s3:DeleteObject" },
      ({ sdk, client }) =>
        client.send(new sdk.DeleteObjectCommand({ Bucket: this.#bucket.name, Key: whole })),
    );
  }

  async import(key: string, path: string): Promise<BlobInfo> {
    this.#bucket.keyOf(key);
    const length = await finishedFileBytes(path);
    const partBytes = Math.max(PART_BYTES, Math.ceil(length / MAX_PARTS));
    const source = createReadStream(path, { highWaterMark: READ_BYTES });
    const { size } = await this.#upload(key, source, undefined, () => partBytes);
    return { key, size };
  }

  location(key: string): string {
    const path = key.replace(/\/$/, "");
    this.#bucket.keyOf(path);
    return this.#bucket.url(path);
  }

  /** Ends the connections; the next call makes new ones. */
  async close(): Promise<void> {
    await this.#bucket.close();
  }

  async #upload(
    key: string,
    body: Uint8Array | AsyncIterable<Uint8Array>,
    expected: string | undefined,
    partBytes?: (number: number) => number,
  ): Promise<BlobInfo & { sha256: string }> {
    this.#bucket.keyOf(key);
    const hash = createHash("sha256");
    let size = 0;
    const parts = partsOf(
      body,
      (chunk) => {
        hash.update(chunk);
        size += chunk.byteLength;
      },
      partBytes,
    );
    let upload: MultipartUpload | undefined;
    try {
      for await (const { bytes, last } of parts) {
        if (upload === undefined && !last) upload = await MultipartUpload.begin(this.#bucket, key);
        await upload?.add(bytes);
        if (last && upload === undefined) await this.#putWhole(key, bytes, hash.copy().digest(), expected);
      }
      const sha256 = hash.digest("hex");
      await upload?.settled();
      if (expected !== undefined && expected !== sha256) throw corruptBlob(key, expected, sha256);
      await upload?.complete();
      return { key, size, sha256 };
    } catch (error) {
      // Where even that fails, the bucket's own rule removes the parts some days later.
      await upload?.abort().catch(() => {});
      throw error;
    }
  }

  async #putWhole(key: string, bytes: Uint8Array, hash: Buffer, expected: string | undefined): Promise<void> {
    const sha256 = hash.toString("hex");
    if (expected !== undefined && expected !== sha256) throw corruptBlob(key, expected, sha256);
    await this.#bucket.call(
      { what: `Writing ${this.#bucket.url(key)}`, needs: "s3:PutObject" },
      ({ sdk, client }) =>
        client.send(
          new sdk.PutObjectCommand({
            Bucket: this.#bucket.name,
            Key: this.#bucket.keyOf(key),
            Body: bytes,
            ContentType: "application/octet-stream",
            // S3 compares it with what arrived.
            ChecksumSHA256: hash.toString("base64"),
          }),
        ),
    );
  }
}

async function finishedFileBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true) return found.size;
  throw new SpotterError("not_found", `${path} is not a file.`, { where: path });
}
