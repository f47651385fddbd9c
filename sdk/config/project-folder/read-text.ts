import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";

/** Configurations and code are pages of text. */
const MAX_BYTES = 4_000_000;

/** A file's text without a byte order mark, or why there is none. Never throws for what lies on the disk. */
export function readText(path: string): { text: string } | { fault: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    return { fault: faultOf(error) };
  }
  if (bytes.length > MAX_BYTES) return { fault: `has ${bytes.length} bytes; ${MAX_BYTES} are the most` };
  if (!isUtf8(bytes)) return { fault: "is not UTF-8" };
  return { text: bytes.toString("utf8").replace(/^\uFEFF/, "") };
}

/** What the operating system said of a file, in words. */
export function faultOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return code === "EISDIR" ? "is a folder, expected a file" : `cannot be read: ${code}`;
}
