import { SpotterError } from "../../../sdk/schema/errors.ts";
import { diskError, diskFull } from "../disk-error.ts";

const BUSY = 5;
const FULL = 13;
const DAMAGED: ReadonlySet<number> = new Set([11, 26]); // CORRUPT, NOTADB
const UNUSABLE: ReadonlySet<number> = new Set([3, 8, 10, 14, 23]); // PERM, READONLY, IOERR, CANTOPEN, AUTH

/** What SQLite says, as an error that tells what to do. */
export function storeError(error: unknown, path: string): SpotterError {
  if (SpotterError.is(error)) return error;
  const code = primaryCode(error);
  if (code === undefined) return diskError(error, path);
  if (code === FULL) return diskFull(path, error);
  const message = error instanceof Error ? error.message : String(error);
  if (DAMAGED.has(code)) {
    return damaged(path, message, error);
  }
  if (UNUSABLE.has(code)) {
    return new SpotterError("state_unreadable", `Cannot use ${path}: ${message}.`, {
      where: path,
      hint: "Make the file and its folder writable for this user, or point SPOTTER_HOME at another folder.",
      cause: error,
    });
  }
  if (code === BUSY) {
    return new SpotterError("timeout", `${path} is held by another process: ${message}.`, {
      where: path,
      retryable: true,
      hint: "Try again; if it stays, end the process that has the file open.",
      cause: error,
    });
  }
  return new SpotterError("internal", `SQLite refused: ${message}.`, { where: path, cause: error });
}

export function damaged(path: string, what: string, cause?: unknown): SpotterError {
  return new SpotterError("state_unreadable", `${path} is damaged: ${what.replace(/\.$/, "")}.`, {
    where: path,
    hint: "Move the folder away and restore a backup with `spotter restore FILE`, or begin with an empty one.",
    cause,
  });
}

/** SQLite puts details into the upper bits of its codes. */
export function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return Number(error.errcode) % 256;
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}
