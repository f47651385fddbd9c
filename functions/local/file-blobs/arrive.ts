import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { diskError, errorCode, isDiskError } from "../disk-error.ts";

/** Lets `write` make a temporary file, and moves it to `path` if that succeeds. */
export async function arrive<T>(
  incoming: string,
  path: string,
  key: string,
  write: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = join(incoming, randomUUID());
  try {
    const result = await write(temporary);
    await moveInto(temporary, path, key);
    return result;
  } catch (error) {
    // An error of the body's own, such as a client that went away, stays what it is.
    throw isDiskError(error) ? diskError(error, path) : error;
  } finally {
    // Also after success: renaming one hard link over another of the same file leaves both.
    await rm(temporary, { force: true });
  }
}

/** For a file on another disk, where there are no hard links to it. */
export async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(target, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const IN_THE_WAY: ReadonlySet<string> = new Set(["ENOTDIR", "EEXIST", "EISDIR", "ENOTEMPTY"]);

async function moveInto(temporary: string, path: string, key: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
      return await syncFolder(dirname(path));
    } catch (error) {
      if (IN_THE_WAY.has(errorCode(error) ?? "")) throw inTheWay(key, error);
      // A neighbour's deletion may have removed the folder in between.
      if (errorCode(error) !== "ENOENT" || attempt === 10) throw error;
    }
  }
}

/** A rename is on the disk when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function inTheWay(key: string, cause: unknown): SpotterError {
  return new SpotterError("conflict", `${key} is a folder of other blobs, or lies below another blob.`, {
    where: key,
    hint: "Choose another key, or delete the blob that is in the way.",
    cause,
  });
}
