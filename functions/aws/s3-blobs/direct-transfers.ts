import type * as presigner from "@aws-sdk/s3-request-presigner";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { BlobInfo, DirectTransfers, UploadedPart } from "../../ports/blobs.ts";
import { loadClient } from "../load-client.ts";
import type { Bucket, LoadedS3 } from "./bucket.ts";
import { abortUpload, completeUpload, createUpload } from "./multipart-upload.ts";
import { MAX_PARTS, MIN_PART_BYTES } from "./parts.ts";

/** Seven days: the longest that S3 takes. A URL also ends with the credentials of the role that signed it. */
const MAX_TTL_S = 604_800;
const CHECKSUM_HEADER = "x-amz-checksum-sha256";

/** Presigned URLs and uploads in parts, so that gigabytes go between a container and S3 and nowhere else. */
export function directTransfers(
  bucket: Bucket,
  head: (key: string) => Promise<BlobInfo | undefined>,
  maxPutBytes: number,
): DirectTransfers {
  return {
    maxPutBytes,
    minPartBytes: MIN_PART_BYTES,
    maxParts: MAX_PARTS,
    async presignGet(key, ttlS) {
      const Key = bucket.keyOf(key);
      return await presign(bucket, key, ttlS, async ({ sdk, client }, sign) => {
        const command = new sdk.GetObjectCommand({ Bucket: bucket.name, Key });
        return await sign(client, command, { expiresIn: ttlS });
      });
    },
    async presignPut(key, sha256, ttlS) {
      const checksum = Buffer.from(sha256, "hex").toString("base64");
      const headers = { [CHECKSUM_HEADER]: checksum };
      const Key = bucket.keyOf(key);
      const url = await presign(bucket, key, ttlS, async ({ sdk, client }, sign) => {
        const command = new sdk.PutObjectCommand({ Bucket: bucket.name, Key, ChecksumSHA256: checksum });
        // Signed as a header, so that nobody can leave it out.
        const unhoistableHeaders = new Set([CHECKSUM_HEADER]);
        return await sign(client, command, { expiresIn: ttlS, unhoistableHeaders });
      });
      return { url, headers };
    },
    async createUpload(key) {
      return await createUpload(bucket, key, { checksums: false });
    },
    async presignPart(key, uploadId, partNumber, ttlS) {
      checkPartNumber(partNumber);
      const Key = bucket.keyOf(key);
      return await presign(bucket, key, ttlS, async ({ sdk, client }, sign) => {
        const part = { Bucket: bucket.name, Key, UploadId: uploadId, PartNumber: partNumber };
        return await sign(client, new sdk.UploadPartCommand(part), { expiresIn: ttlS });
      });
    },
    async completeUpload(key, uploadId, parts) {
      for (const { partNumber } of parts) checkPartNumber(partNumber);
      try {
        await completeUpload(bucket, key, uploadId, parts.map(s3Part));
      } catch (error) {
        throw refused(key, error);
      }
      const info = await head(key);
      if (info !== undefined) return info;
      throw new SpotterError("not_found", `${key} was deleted as soon as it was uploaded.`, { where: key });
    },
    async abortUpload(key, uploadId) {
      await abortUpload(bucket, key, uploadId);
    },
  };
}

async function presign(
  bucket: Bucket,
  key: string,
  ttlS: number,
  run: (loaded: LoadedS3, sign: typeof presigner.getSignedUrl) => Promise<string>,
): Promise<string> {
  if (!Number.isInteger(ttlS) || ttlS < 1 || ttlS > MAX_TTL_S) {
    throw new SpotterError("invalid_input", `A URL cannot last for ${ttlS} seconds.`, {
      where: "ttlS",
      hint: `Give a whole number from 1 to ${MAX_TTL_S}.`,
    });
  }
  const name = "@aws-sdk/s3-request-presigner";
  const { getSignedUrl } = await loadClient(name, () => import("@aws-sdk/s3-request-presigner"));
  return await bucket.call({ what: `Signing a URL for ${bucket.url(key)}`, needs: "credentials" }, (loaded) =>
    run(loaded, getSignedUrl),
  );
}

function s3Part({ partNumber, etag }: UploadedPart) {
  return { PartNumber: partNumber, ETag: etag };
}

function checkPartNumber(partNumber: number): void {
  if (Number.isInteger(partNumber) && partNumber >= 1 && partNumber <= MAX_PARTS) return;
  throw new SpotterError("invalid_input", `There is no part ${partNumber}.`, {
    where: "partNumber",
    hint: `Parts are numbered from 1 to ${MAX_PARTS}.`,
  });
}

const WRONG_PARTS: ReadonlySet<string> = new Set([
  "InvalidPart",
  "InvalidPartOrder",
  "EntityTooSmall",
  "MalformedXML",
]);

/** What the uploader did wrong, if it was the uploader. */
function refused(key: string, error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  if (cause?.name === "NoSuchUpload") {
    return new SpotterError("not_found", `There is no such upload of ${key}; it may have been given up.`, {
      where: key,
      hint: "Begin it again.",
      cause,
    });
  }
  if (cause === undefined || !WRONG_PARTS.has(cause.name)) return error;
  return new SpotterError("invalid_input", `These parts do not make ${key}: ${cause.message}`, {
    where: key,
    hint: "List every part once, in ascending order, with the ETag that its upload was answered with; all but the last have at least 5 MiB.",
    cause,
  });
}
