import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { diskError } from "./disk-error.ts";

/**
 * Readers see the old content or the new one, never a part; the owner alone can read it.
 *
 * @throws SpotterError `state_unreadable`, `disk_full`
 */
export function atomicWrite(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const descriptor = openSync(temporary, "w", 0o600);
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw diskError(error, path);
  }
}
