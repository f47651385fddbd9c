import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Scratch, ScratchEntry } from "../ports/scratch.ts";
import { diskError, errorCode } from "./disk-error.ts";

/** Below the state folder: what was downloaded, compiled or logged, and can be again. */
const CACHES = ["cache", "compile-cache"];
const OLD_LOG = "daemon.log.1";

/** The caches of a state folder, file by file. */
export function fileScratch(home: string): Scratch {
  return {
    async list() {
      const lists = await Promise.all([
        ...CACHES.map((name) => filesBelow(home, name)),
        entryOf(home, OLD_LOG),
      ]);
      return lists.flat();
    },
    async remove(name) {
      try {
        await rm(join(home, name), { force: true });
      } catch (error) {
        throw diskError(error, join(home, name));
      }
    },
  };
}

async function filesBelow(home: string, folder: string): Promise<ScratchEntry[]> {
  try {
    const entries = await readdir(join(home, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const lists = files.map((entry) =>
      entryOf(home, join(entry.parentPath, entry.name).slice(home.length + 1)),
    );
    return (await Promise.all(lists)).flat();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw diskError(error, join(home, folder));
  }
}

/** Some file systems do not write down when a file was read; then it counts from when it was written. */
async function entryOf(home: string, name: string): Promise<ScratchEntry[]> {
  try {
    const { size, atimeMs, mtimeMs } = await stat(join(home, name));
    return [{ name, bytes: size, usedAtMs: Math.max(atimeMs, mtimeMs) }];
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw diskError(error, join(home, name));
  }
}
