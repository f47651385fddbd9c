import type { DirectUpload } from "../../sdk/schema/upload.ts";
import { type Blobs, DIRECT_FROM_BYTES } from "../ports/blobs.ts";

/** Gigabytes on a slow line; asking again gives a new URL. */
const UPLOAD_TTL_S = 6 * 3600;

/** Where to put content past the control plane; undefined where that is not possible or not worth it. */
export async function directUploadOf(
  blobs: Blobs,
  key: string,
  { size, sha256 }: { size: number; sha256: string },
): Promise<DirectUpload | undefined> {
  const { direct } = blobs;
  if (direct === undefined || size < DIRECT_FROM_BYTES || size > direct.maxPutBytes) return undefined;
  return await direct.presignPut(key, sha256, UPLOAD_TTL_S);
}
