import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Where this machine's state lives: SPOTTER_HOME, else `~/.spotter`. */
export function spotterHome(): string {
  return resolve(process.env.SPOTTER_HOME || join(homedir(), ".spotter"));
}

/** The daemon's program beside this file: source beside source, compiled beside compiled. */
export function daemonProgram(): string {
  return program("node");
}

/** The program that saves and restores the state folder, beside the daemon's. */
export function archiveProgram(): string {
  return program("archive");
}

function program(name: string): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return fileURLToPath(new URL(`../../functions/${name}.${extension}`, import.meta.url));
}

/** The folder with our package.json, above the source as well as above dist/. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json above ${import.meta.url}`);
    folder = parent;
  }
  return folder;
}

let version: string | undefined;

/** Version of this package. */
export function packageVersion(): string {
  if (version !== undefined) return version;
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  return (version = (manifest as { version: string }).version);
}
