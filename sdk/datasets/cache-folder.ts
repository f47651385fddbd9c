import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { spotterHome } from "../local/home.ts";

/** A place in the cache for what these values, in this order, identify. */
export function cachePath(folder: string, identity: unknown, ending: string): string {
  const hash = createHash("sha256").update(JSON.stringify(identity)).digest("hex");
  return join(spotterHome(), "cache", folder, `${hash}${ending}`);
}

/** Writes a file that is there as a whole or not at all, also after a crash or beside another writer. */
export async function writeAtomic(
  path: string,
  content: AsyncIterable<string | Uint8Array> | Iterable<string>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomUUID()}.part`;
  try {
    const handle = await open(partial, "w");
    try {
      for await (const piece of content) await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

export async function hashOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
