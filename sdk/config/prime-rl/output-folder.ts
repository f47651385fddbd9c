import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SpotterError } from "../../schema/errors.ts";

/**
 * Makes a folder and those around it. Not by Node's recursive way, which tries for ever where a system refuses
 * folders as if they were not there, as /proc does.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder);
    } catch (error) {
      // Another process was quicker.
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
    }
  }
}

/**
 * What cannot be written below the output folder, as an error with its place and remedy.
 *
 * @param what What wanted to write: "The dry run".
 */
export function outputError(what: string, folder: string, error: unknown): SpotterError {
  const why = error instanceof Error ? error.message : String(error);
  const isFull = (error as NodeJS.ErrnoException).code === "ENOSPC";
  return new SpotterError(
    isFull ? "disk_full" : "invalid_input",
    `${what} cannot write under ${folder}: ${why}.`,
    {
      hint: "Give it a folder that can be written to: --output-dir FOLDER.",
      where: folder,
      cause: error,
    },
  );
}
