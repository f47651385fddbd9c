import { SpotterError } from "../../sdk/schema/errors.ts";

const MAX_KEY_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

/** Throws `invalid_input` for what cannot be a blob's key in every home. */
export function checkBlobKey(key: string): void {
  const allowed =
    Buffer.byteLength(key) <= MAX_KEY_BYTES && key.split("/").every(isSegment) && key.isWellFormed();
  if (allowed) return;
  throw new SpotterError("invalid_input", `${JSON.stringify(key.slice(0, 120))} cannot be a blob key.`, {
    where: "key",
    hint: "Keys are relative paths with / between names, without empty names, . or .., \\ and control characters.",
  });
}

/** A prefix may end within a name; what comes before must be a possible key. */
export function checkBlobPrefix(prefix: string): void {
  checkBlobKey(`${prefix}x`);
}

function isSegment(segment: string): boolean {
  if (segment === "" || segment === "." || segment === "..") return false;
  return Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES && !/[\u0000-\u001f\u007f\\]/.test(segment);
}
