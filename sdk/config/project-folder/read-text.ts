import { isUtf8 } from "node:buffer";
import { readFileSync, type Stats, statSync } from "node:fs";

/** Configurations and code are pages of text. */
const MAX_BYTES = 4_000_000;

/** A file's text without a byte order mark, or why there is none. Never throws for what lies on the disk. */
export function readText(path: string): { text: string } | { fault: string } {
  let bytes: Buffer;
  try {
    const stats = statSync(path);
    const fault = kindFault(stats);
    if (fault !== undefined) return { fault };
    if (stats.size > MAX_BYTES) return { fault: `has ${stats.size} bytes; ${MAX_BYTES} are the most` };
    bytes = readFileSync(path);
  } catch (error) {
    return { fault: faultOf(error) };
  }
  if (!isUtf8(bytes)) return { fault: "is not UTF-8" };
  return { text: bytes.toString("utf8").replace(/^\uFEFF/, "") };
}

/** Why something is no file with an end: reading a pipe waits for whoever writes it, reading a device never ends. */
export function kindFault(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  return stats.isDirectory() ? "is a folder, expected a file" : "is a pipe or a device, expected a file";
}

/** What the operating system said of a file, in words. */
export function faultOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return code === "EISDIR" ? "is a folder, expected a file" : `cannot be read: ${code}`;
}
