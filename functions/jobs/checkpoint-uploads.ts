import type { CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobUpload, JobUploadedParts } from "../../sdk/schema/job.ts";
import { type Blobs, DIRECT_FROM_BYTES, type DirectTransfers } from "../ports/blobs.ts";

/** A reply stays below a megabyte or two. */
const MAX_PART_URLS = 500;
/** Gigabytes on a slow line; announcing again gives new URLs. */
const UPLOAD_TTL_S = 6 * 3600;

/** Uploads in parts that were begun, by the path of the file. */
export type BegunUploads = Record<string, string>;

export interface PlannedUploads {
  uploads: JobUpload[];
  begun: BegunUploads;
}

/**
 * Where each file goes: straight to the home of the blobs, where that is possible and worth it, else to the control
 * plane.
 *
 * @param prefix of the files' keys. @param base URL below which the control plane takes files.
 */
export async function planUploads(
  blobs: Blobs,
  prefix: string,
  base: string,
  files: readonly CheckpointFile[],
): Promise<PlannedUploads> {
  const begun: BegunUploads = {};
  const uploads: JobUpload[] = [];
  for (const file of files) {
    const key = `${prefix}/${file.path}`;
    const { direct } = blobs;
    if (direct === undefined || file.size < DIRECT_FROM_BYTES) {
      uploads.push({ path: file.path, url: `${base}/${encodeURI(file.path)}` });
    } else if (file.size <= direct.maxPutBytes) {
      uploads.push({ path: file.path, ...(await direct.presignPut(key, file.sha256, UPLOAD_TTL_S)) });
    } else {
      const uploadId = await direct.createUpload(key);
      begun[file.path] = uploadId;
      uploads.push(await inParts(direct, key, uploadId, file));
    }
  }
  return { uploads, begun };
}

/** Makes the blobs of what was uploaded in parts. Safe to repeat. */
export async function completeUploads(
  blobs: Blobs,
  prefix: string,
  begun: BegunUploads,
  uploaded: readonly JobUploadedParts[],
): Promise<void> {
  for (const [path, uploadId] of Object.entries(begun)) {
    const etags = uploaded.find((each) => each.path === path)?.etags;
    if (etags === undefined || blobs.direct === undefined) {
      throw new SpotterError("invalid_input", `${path} goes in parts, and their ETags are missing.`, {
        where: "parts",
        hint: "Name what each part was answered with.",
      });
    }
    const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag }));
    await blobs.direct.completeUpload(`${prefix}/${path}`, uploadId, parts);
  }
}

/** Gives up what an earlier announcement began; where that fails, the bucket's own rule removes it in time. */
export async function abandonUploads(blobs: Blobs, prefix: string, begun: BegunUploads): Promise<void> {
  for (const [path, uploadId] of Object.entries(begun)) {
    await blobs.direct?.abortUpload(`${prefix}/${path}`, uploadId).catch(() => {});
  }
}

async function inParts(
  direct: DirectTransfers,
  key: string,
  uploadId: string,
  { path, size }: CheckpointFile,
): Promise<JobUpload> {
  const partBytes = Math.max(direct.minPartBytes, Math.ceil(size / MAX_PART_URLS));
  const count = Math.ceil(size / partBytes);
  const urls = await Promise.all(
    Array.from({ length: count }, (_, index) => direct.presignPart(key, uploadId, index + 1, UPLOAD_TTL_S)),
  );
  // Who does not know of parts fails on the first one's URL instead of silently sending to another.
  return { path, url: urls[0] ?? "", parts: { partBytes, urls } };
}

/** @throws SpotterError `blob_corrupt` for the first of the announced files that is not there whole. */
export async function checkFiles(
  blobs: Blobs,
  prefix: string,
  files: readonly CheckpointFile[],
): Promise<void> {
  for (const file of files) {
    const info = await blobs.head(`${prefix}/${file.path}`);
    if (info?.size === file.size) continue;
    throw new SpotterError(
      "blob_corrupt",
      info === undefined
        ? `It is not complete: ${file.path} was not uploaded.`
        : `${file.path} has ${info.size} bytes, announced were ${file.size}.`,
      { where: file.path, hint: "Upload the file again, then complete it." },
    );
  }
}
