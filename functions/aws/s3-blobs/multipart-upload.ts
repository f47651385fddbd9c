import { createHash } from "node:crypto";
import type { CompletedPart } from "@aws-sdk/client-s3";
import type { Bucket } from "./bucket.ts";

/** Parts that are on their way at once; each is in memory as long. */
const PARALLEL_PARTS = 4;
const NEEDS = "s3:PutObject and s3:AbortMultipartUpload";

/** An upload in parts: nothing is visible until `complete`, and nothing stays after `abort`. */
export class MultipartUpload {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #uploadId: string;
  readonly #stop = new AbortController();
  readonly #pending = new Set<Promise<void>>();
  readonly #parts: CompletedPart[] = [];
  #started = 0;
  #failure: { error: unknown } | undefined;

  private constructor(bucket: Bucket, key: string, uploadId: string) {
    this.#bucket = bucket;
    this.#key = key;
    this.#uploadId = uploadId;
  }

  static async begin(bucket: Bucket, key: string): Promise<MultipartUpload> {
    return new MultipartUpload(bucket, key, await createUpload(bucket, key, { checksums: true }));
  }

  /** Sends the next part; waits while too many are on their way. */
  async add(bytes: Uint8Array): Promise<void> {
    while (this.#pending.size >= PARALLEL_PARTS) await Promise.race(this.#pending);
    if (this.#failure !== undefined) throw this.#failure.error;
    const sent = this.#send(++this.#started, bytes)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  /** All parts have arrived, or the first failure is thrown. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async complete(): Promise<void> {
    await this.settled();
    this.#parts.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0));
    await completeUpload(this.#bucket, this.#key, this.#uploadId, this.#parts);
  }

  async abort(): Promise<void> {
    // A part that arrives after the abort would stay, and be paid for.
    this.#stop.abort();
    await Promise.all(this.#pending);
    await abortUpload(this.#bucket, this.#key, this.#uploadId);
  }

  async #send(partNumber: number, bytes: Uint8Array): Promise<void> {
    const { ETag, ChecksumCRC32 } = await this.#bucket.call(
      { what: `Uploading part ${partNumber} of ${this.#bucket.url(this.#key)}`, needs: NEEDS },
      ({ sdk, client }) =>
        client.send(
          new sdk.UploadPartCommand({
            Bucket: this.#bucket.name,
            Key: this.#bucket.keyOf(this.#key),
            UploadId: this.#uploadId,
            PartNumber: partNumber,
            Body: bytes,
            ChecksumAlgorithm: "CRC32",
          }),
          { abortSignal: this.#stop.signal },
        ),
    );
    this.#parts.push({ PartNumber: partNumber, ETag, ChecksumCRC32 });
  }
}

/** @param options.checksums every part comes with a CRC32, as the SDK sends it. */
export async function createUpload(
  bucket: Bucket,
  key: string,
  options: { checksums: boolean },
): Promise<string> {
  const whole = bucket.keyOf(key);
  const { UploadId } = await bucket.call(
    { what: `Beginning an upload of ${bucket.url(key)}`, needs: NEEDS },
    ({ sdk, client }) =>
      client.send(
        new sdk.CreateMultipartUploadCommand({
          Bucket: bucket.name,
          Key: whole,
          ContentType: "application/octet-stream",
          ...(options.checksums ? { ChecksumAlgorithm: "CRC32" as const } : {}),
        }),
      ),
  );
  if (UploadId === undefined) throw new Error("S3 began an upload without an id.");
  return UploadId;
}

export async function completeUpload(
  bucket: Bucket,
  key: string,
  uploadId: string,
  parts: readonly CompletedPart[],
): Promise<void> {
  const whole = bucket.keyOf(key);
  try {
    await bucket.call(
      { what: `Completing the upload of ${bucket.url(key)}`, needs: NEEDS },
      ({ sdk, client }) =>
        client.send(
          new sdk.CompleteMultipartUploadCommand({
            Bucket: bucket.name,
            Key: whole,
            UploadId: uploadId,
            MultipartUpload: { Parts: [...parts] },
          }),
        ),
    );
  } catch (error) {
    // The answer to an earlier attempt may have been lost on its way: then the blob is what these parts make.
    if (isGone(error) && (await isMadeOf(bucket, whole, parts))) return;
    throw error;
  }
}

export async function abortUpload(bucket: Bucket, key: string, uploadId: string): Promise<void> {
  const whole = bucket.keyOf(key);
  await bucket.call<unknown>(
    { what: `Giving up the upload of ${bucket.url(key)}`, needs: NEEDS },
    ({ sdk, client }) =>
      client.send(
        new sdk.AbortMultipartUploadCommand({ Bucket: bucket.name, Key: whole, UploadId: uploadId }),
      ),
    (name) => name === "NoSuchUpload" || undefined,
  );
}

function isGone(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof Error && error.cause.name === "NoSuchUpload";
}

/** S3's ETag of an object in parts is the MD5 of the parts' MD5s, unless a key of KMS encrypts it. */
async function isMadeOf(bucket: Bucket, whole: string, parts: readonly CompletedPart[]): Promise<boolean> {
  const digests = parts.map(({ ETag }) => Buffer.from((ETag ?? "").replaceAll('"', ""), "hex"));
  const etag = `${createHash("md5").update(Buffer.concat(digests)).digest("hex")}-${parts.length}`;
  const found = await bucket.call(
    { what: `Looking at s3://${bucket.name}/${whole}`, needs: "s3:GetObject" },
    async ({ sdk, client }) =>
      (await client.send(new sdk.HeadObjectCommand({ Bucket: bucket.name, Key: whole }))).ETag ?? "",
    (_name, status) => (status === 404 ? "" : undefined),
  );
  return found.replaceAll('"', "") === etag;
}
