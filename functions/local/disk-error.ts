import { SpotterError } from "../../sdk/schema/errors.ts";

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);
const UNUSABLE: ReadonlySet<string> = new Set([
  "EROFS",
  "EACCES",
  "EPERM",
  "ENOTDIR",
  "EISDIR",
  "EEXIST",
  "ELOOP",
]);

/** What the operating system says about a path, as an error that tells what to do. */
export function diskError(error: unknown, path: string): SpotterError {
  if (SpotterError.is(error)) return error;
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined && FULL.has(code)) return diskFull(path, error);
  if (code === "EISDIR") {
    return new SpotterError("state_unreadable", `${path} is a folder where a file must be.`, {
      where: path,
      hint: "Move it away; Spotter writes the file itself. Or point SPOTTER_HOME at another folder.",
      cause: error,
    });
  }
  if (code !== undefined && UNUSABLE.has(code)) {
    return new SpotterError("state_unreadable", `Cannot use ${path}: ${message}`, {
      where: path,
      hint: "Make the folder writable for this user, or point SPOTTER_HOME at another one.",
      cause: error,
    });
  }
  return new SpotterError("internal", `Cannot use ${path}: ${message}`, { where: path, cause: error });
}

/** Whether an error speaks of the disk, and not of what was to be written. */
export function isDiskError(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && (FULL.has(code) || UNUSABLE.has(code));
}

export function diskFull(path: string, cause: unknown): SpotterError {
  return new SpotterError("disk_full", `The disk that holds ${path} is full.`, {
    where: path,
    hint: "Free some space, or point SPOTTER_HOME at a larger disk. Nothing that was saved is lost.",
    cause,
  });
}

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
