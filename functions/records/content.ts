import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Blobs } from "../ports/blobs.ts";
import { hashOfBlob } from "./hash.ts";

/** Stores what a client sent under the hash it named. Other bytes are its own mistake, and are not kept. */
export async function putContent(
  blobs: Blobs,
  key: string,
  body: ReadableStream<Uint8Array>,
  sha256: string,
): Promise<void> {
  try {
    await blobs.put(key, body, { sha256 });
  } catch (error) {
    throw SpotterError.is(error) && error.code === "blob_corrupt" ? otherHash(sha256, error) : error;
  }
}

export function otherHash(sha256: string, cause?: unknown): SpotterError {
  return new SpotterError("invalid_input", `The body does not hash to ${sha256}.`, {
    where: "sha256",
    hint: "Send the bytes unchanged, under the SHA-256 of all of them.",
    cause,
  });
}

/** Whether the stored bytes are still what their name says. */
export async function isKept(blobs: Blobs, key: string, sha256: string): Promise<boolean> {
  return (await hashOfBlob(blobs, key)) === sha256;
}

/** A record whose bytes are kept. Who asks before sending, sends them again if not. */
export async function kept<T extends { sha256: string }>(
  blobs: Blobs,
  key: string,
  record: T,
  what: string,
): Promise<T> {
  if (await isKept(blobs, key, record.sha256)) return record;
  throw new SpotterError("not_found", `${what} is gone or damaged.`, {
    where: record.sha256,
    hint: "Upload it again, with PUT to this path.",
  });
}
