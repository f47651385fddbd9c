import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, one by one. Node's own way (`recursive`) never comes back where a file system
 * says of each new name that it is not there, as /proc does.
 */
export async function makeFolder(path: string): Promise<void> {
  const above = dirname(path);
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || above === path) throw error;
    await makeFolder(above);
    // A second time nothing is missing above it: what it says now is what is wrong.
    await mkdir(path).catch((again: unknown) => {
      if ((again as NodeJS.ErrnoException).code !== "EEXIST") throw again;
    });
  }
}
