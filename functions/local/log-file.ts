import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { diskError } from "./disk-error.ts";

const FLUSH_AFTER_MS = 20;

/**
 * Appends to a file; when it passes `maxBytes` (default 10 MB) it becomes `<path>.1` and a new one begins.
 * Only the owner can read it. Lines of the same moment are one write: a log of requests would be a system call
 * for each. What a process that ends by itself has to say is always written.
 */
export function openLogFile(path: string, maxBytes = 10_000_000) {
  const open = () => {
    try {
      mkdirSync(dirname(path), { recursive: true });
      return openSync(path, "a", 0o600);
    } catch (error) {
      throw diskError(error, path);
    }
  };
  let descriptor: number | undefined = open();
  let size = fstatSync(descriptor).size;
  let pending = "";
  let lostWrites = 0;

  function flush(): void {
    const lines = pending;
    pending = "";
    if (descriptor === undefined || lines === "") return;
    try {
      if (size > maxBytes) {
        renameSync(path, `${path}.1`);
        const full = descriptor;
        descriptor = open();
        closeSync(full);
        size = 0;
      }
      if (lostWrites > 0) size += writeSync(descriptor, lostLine(lostWrites));
      lostWrites = 0;
      size += writeSync(descriptor, lines);
    } catch {
      // A full disk must not end the daemon; the log says so when there is room again.
      lostWrites++;
    }
  }

  process.on("exit", flush);
  return {
    write: (line: string): void => {
      if (descriptor === undefined) return;
      if (pending === "") setTimeout(flush, FLUSH_AFTER_MS).unref();
      pending += line;
    },
    close: (): void => {
      flush();
      process.removeListener("exit", flush);
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function lostLine(writes: number): string {
  const message = `${writes} writes to this log failed before this line`;
  return `${JSON.stringify({ level: "error", message })}\n`;
}
