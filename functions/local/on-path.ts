import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program of this name can be started with this `PATH`. */
export function isOnPath(program: string, path = ""): boolean {
  return path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
