import { SpotterError } from "../schema/errors.ts";

/** Why a file of the state folder cannot be read or written. */
export function unusableState(path: string, cause: unknown): SpotterError {
  const why = (cause as { code?: string }).code ?? String(cause);
  if (why === "EISDIR") return folderInstead(path);
  return new SpotterError("state_unreadable", `Cannot write to the state folder ${path}: ${why}.`, {
    where: path,
    hint: "Make it writable, or point SPOTTER_HOME at another folder.",
    cause,
  });
}

export function folderInstead(path: string): SpotterError {
  return new SpotterError("state_unreadable", `${path} is a folder where a file must be.`, {
    where: path,
    hint: "Move it away; the daemon writes the file itself. Or point SPOTTER_HOME at another folder.",
  });
}
