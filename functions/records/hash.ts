import { createHash, hash as hashAtOnce, timingSafeEqual } from "node:crypto";
import type { Blobs } from "../ports/blobs.ts";

export function sha256Of(data: string | Uint8Array): string {
  return hashAtOnce("sha256", data, "hex");
}

/** Compares two hexadecimal hashes without telling by its duration where they differ. */
export function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** SHA-256 of a stored blob, read piece by piece; undefined if there is none. */
export async function hashOfBlob(blobs: Blobs, key: string): Promise<string | undefined> {
  const body = await blobs.get(key);
  if (body === undefined) return undefined;
  const hash = createHash("sha256");
  for await (const chunk of body) hash.update(chunk);
  return hash.digest("hex");
}
