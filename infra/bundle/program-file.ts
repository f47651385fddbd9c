import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { archive, type ArchiveFile } from "./tar.ts";

/** What git does not look at. */
const FOLDER = fileURLToPath(new URL("../../.cache/programs", import.meta.url));

export interface ProgramFile {
  path: string;
  /** Of the whole file. */
  sha256: string;
}

/**
 * Packs files into a .tar.gz on disk, from where they are uploaded. The same files are packed once: packing the
 * engine takes seconds, and every preview needs it.
 *
 * @param name Of the program, for people who look into the folder.
 * @param folder Default: `.cache/programs` of the clone.
 */
export function programFile(
  name: string,
  files: readonly ArchiveFile[],
  folder: string = FOLDER,
): ProgramFile {
  const path = join(folder, `${name}-${identityOf(files)}.tar.gz`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    forgetOthers(folder, name);
    // Whoever packs at the same time writes the same; nobody finds it half written.
    const beside = `${path}.${process.pid}`;
    writeFileSync(beside, archive(files));
    renameSync(beside, path);
  }
  return { path, sha256: createHash("sha256").update(readFileSync(path)).digest("hex") };
}

/** Of older sources: the engine is some twenty megabytes each time. */
function forgetOthers(folder: string, name: string): void {
  const own = new RegExp(`^${name}-[0-9a-f]{16}\\.tar\\.gz$`);
  for (const each of readdirSync(folder)) if (own.test(each)) rmSync(join(folder, each), { force: true });
}

function identityOf(files: readonly ArchiveFile[]): string {
  const hash = createHash("sha256");
  const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  for (const { path, content, isExecutable = false } of ordered) {
    hash.update(`${path}\0${String(isExecutable)}\0${content.byteLength}\0`);
    hash.update(content);
  }
  return hash.digest("hex").slice(0, 16);
}
