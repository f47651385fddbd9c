import type { SQLOutputValue } from "node:sqlite";
import { crc32 } from "node:zlib";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/**
 * The value of a stored text. A disk that returns other bytes than it was given is `state_unreadable`:
 * SQLite notices broken pages, but not another letter in a text.
 */
export function decodeValue(stored: SQLOutputValue | undefined, checksum: unknown, where: string): unknown {
  const text = String(stored);
  try {
    if (checksum === null || Number(checksum) === checksumOf(text)) return JSON.parse(text);
  } catch {
    // Told below.
  }
  throw new SpotterError("state_unreadable", `The state is damaged: ${where} is not as it was written.`, {
    where,
    hint: "Stop the daemon (`spotter down`) and restore a backup: `spotter restore FILE`.",
  });
}

export function checksumOf(text: string): number {
  return crc32(text);
}
