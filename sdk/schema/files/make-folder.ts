import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, one by one. Node's own way (`recursive`) never comes back where a file system
 * says of each new name that it is not there, as /proc does.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  const above = dirname(path);
  try {
    await makeOne(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === path) throw error;
    await makeFolder(above, mode);
    // A second time nothing is missing above it: what it says now is what is wrong.
    await makeOne(path, mode);
  }
}

/** Nothing, where it is a folder already. */
async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    const isFolder = isThere && (await stat(path).catch(() => undefined))?.isDirectory();
    if (isFolder !== true) throw error;
  }
}
