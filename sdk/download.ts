import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "./schema/files/make-folder.ts";
import type { CheckpointFile } from "./schema/checkpoint.ts";
import { SpotterError } from "./schema/errors.ts";

/** Writes one file beside its final place and moves it there when it hashes right. */
export async function downloadFile(
  folder: string,
  file: CheckpointFile,
  receive: (read: (response: Response) => Promise<string>) => Promise<string>,
): Promise<void> {
  const target = join(folder, ...file.path.split("/"));
  if (await isThere(target, file)) return;
  await makeFolder(dirname(target)).catch((error: unknown) => {
    throw unwritable(target, error);
  });
  const partial = `${target}.${randomUUID()}.part`;
  try {
    const got = await receive((response) => write(partial, response));
    if (got !== file.sha256) {
      throw new SpotterError("blob_corrupt", `${file.path} arrived damaged: its hash is ${got}.`, {
        where: target,
        hint: "Download it again.",
      });
    }
    await rename(partial, target);
  } catch (error) {
    throw unwritable(target, error);
  } finally {
    await rm(partial, { force: true });
  }
}

async function isThere(path: string, file: CheckpointFile): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.size !== file.size) return false;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest("hex") === file.sha256;
}

async function write(path: string, response: Response): Promise<string> {
  const hash = createHash("sha256");
  const handle = await open(path, "w");
  try {
    for await (const chunk of response.body ?? []) {
      hash.update(chunk as Uint8Array);
      await handle.writeFile(chunk as Uint8Array);
    }
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}

/** Errors of the file system in our form; everything else as it is. */
function unwritable(path: string, error: unknown): unknown {
  const { code, syscall } = error as { code?: string; syscall?: string };
  if (code === undefined || syscall === undefined) return error;
  return new SpotterError(
    code === "ENOSPC" ? "disk_full" : "invalid_input",
    `Cannot write ${path}: ${code}.`,
    {
      where: path,
      hint: code === "ENOSPC" ? "Make room and download again." : "Choose another folder.",
      cause: error,
    },
  );
}
