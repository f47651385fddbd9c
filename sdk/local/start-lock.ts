import { open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "./is-alive.ts";
import { makeFolder } from "../schema/files/make-folder.ts";
import { folderInstead, unusableState } from "./unusable-state.ts";

/** A start takes ten seconds at most; a lock older than this is a leftover. */
const STALE_MS = 20_000;

/**
 * Takes the right to start a daemon for a state folder. Undefined: somebody else is at it. It only spares
 * needless starts; what makes a second daemon impossible is the daemon's own lock.
 */
export async function takeStartLock(home: string): Promise<{ release(): Promise<void> } | undefined> {
  const path = join(home, "start.lock");
  await makeFolder(home, 0o700).catch((error: unknown) => {
    throw unusableState(home, error);
  });
  try {
    const handle = await open(path, "wx", 0o600);
    await handle.writeFile(`${process.pid}\n`);
    await handle.close();
    return { release: () => rm(path, { force: true }) };
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw unusableState(home, error);
    if (await isStale(path)) await rm(path, { force: true });
    return undefined;
  }
}

async function isStale(path: string): Promise<boolean> {
  const [found, text] = await Promise.all([
    stat(path).catch(() => undefined),
    readFile(path, "utf8").catch(() => ""),
  ]);
  if (!found) return false;
  if (found.isDirectory()) throw folderInstead(path);
  if (Date.now() - found.mtimeMs > STALE_MS) return true;
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && !isAlive(pid);
}
