import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BlobInfo } from "../../ports/blobs.ts";
import { errorCode } from "../disk-error.ts";

/** Every file below `root` whose path, with `/`, begins with `prefix`, in byte order. */
export async function listFiles(root: string, prefix: string): Promise<BlobInfo[]> {
  const found: BlobInfo[] = [];
  // Only the folder that holds the prefix needs to be walked.
  await walk(root, prefix.slice(0, prefix.lastIndexOf("/") + 1), prefix, found);
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}

async function walk(root: string, folder: string, prefix: string, found: BlobInfo[]): Promise<void> {
  for (const entry of await entriesOf(join(root, folder))) {
    const key = `${folder}${entry.name}`;
    if (entry.isDirectory()) {
      const inside = `${key}/`;
      if (inside.startsWith(prefix) || prefix.startsWith(inside)) await walk(root, inside, prefix, found);
    } else if (key.startsWith(prefix)) {
      const size = await sizeOf(join(root, key));
      if (size !== undefined) found.push({ key, size });
    }
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** Undefined for a file deleted since its folder was listed. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
