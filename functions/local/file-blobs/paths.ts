import { join } from "node:path";
import { SpotterError } from "../../../sdk/schema/errors.ts";

const MAX_KEY_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;

/** The file of a key below `root`; a key that could lead elsewhere is `invalid_input`. */
export function pathOf(root: string, key: string): string {
  const segments = key.split("/");
  const allowed = Buffer.byteLength(key) <= MAX_KEY_BYTES && segments.every(isSegment) && key.isWellFormed();
  if (allowed) return join(root, ...segments);
  throw new SpotterError("invalid_input", `${JSON.stringify(key.slice(0, 120))} cannot be a blob key.`, {
    where: "key",
    hint: "Keys are relative paths with / between names, without empty names, . or .., \\ and control characters.",
  });
}

function isSegment(segment: string): boolean {
  if (segment === "" || segment === "." || segment === "..") return false;
  return Buffer.byteLength(segment) <= MAX_SEGMENT_BYTES && !/[\u0000-\u001f\u007f\\]/.test(segment);
}
