import type { Control } from "../control.ts";
import { DIRECT_FROM_BYTES } from "../ports/blobs.ts";
import { blobResponse } from "./blob-response.ts";

/** Long enough for the slowest line: who begins a read in time may finish it. */
const DOWNLOAD_TTL_S = 3600;

/** A file to download: its bytes, or where the home of the blobs can be reached, the way to many of them. */
export async function fileResponse(control: Control, key: string, range?: string): Promise<Response> {
  const { direct } = control.blobs;
  if (direct !== undefined && ((await control.blobs.head(key))?.size ?? 0) >= DIRECT_FROM_BYTES) {
    const location = await direct.presignGet(key, DOWNLOAD_TTL_S);
    return new Response(null, { status: 307, headers: { location, "cache-control": "no-store" } });
  }
  return await blobResponse(control, key, range);
}
