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

/** Why nobody can tell whether a daemon runs: its file is there, or may be, and cannot be read. */
export function unreadableState(home: string, path: string, cause: unknown): SpotterError {
  const why = (cause as { code?: string }).code ?? String(cause);
  if (why === "EISDIR") return folderInstead(path);
  const isClosed = why === "EACCES" || why === "EPERM";
  return new SpotterError("state_unreadable", `Cannot read ${path}: ${why}.`, {
    where: path,
    hint: isClosed
      ? `\`chmod u+rwx ${home}\` as its owner, then try again; a daemon that runs there goes on until \`spotter down\`. Or point SPOTTER_HOME at another folder.`
      : "Move it away, or point SPOTTER_HOME at another folder.",
    cause,
  });
}

export function folderInstead(path: string): SpotterError {
  return new SpotterError("state_unreadable", `${path} is a folder where a file must be.`, {
    where: path,
    hint: "Move it away; the daemon writes the file itself. Or point SPOTTER_HOME at another folder.",
  });
}
