import { globSync, readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { ArchiveFile } from "./tar.ts";

const FOLDER = fileURLToPath(new URL("../../engine/python", import.meta.url));

/**
 * The agent beside engines of other makers, and its plug-ins for them, for an image with `python3`: it uses the
 * standard library alone.
 *
 * @example
 * const files = agentFiles(); // run `python3 -m spotter_agent` where they lie
 */
export function agentFiles(folder: string = FOLDER): ArchiveFile[] {
  return globSync("**/*", { cwd: folder })
    .filter((path) => !path.split(sep).includes("__pycache__") && statSync(join(folder, path)).isFile())
    .map((path) => ({ path: path.split(sep).join("/"), content: readFileSync(join(folder, path)) }));
}
