import { open, readFile, stat, type FileHandle } from "node:fs/promises";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/**
 * Reads a text file of a model folder. A pipe or a device in its place would never end, so only a regular
 * file is read, or a link to one.
 *
 * @throws SpotterError `model_corrupt` where it is no regular file; what the file system says otherwise.
 */
export async function readModelText(file: string): Promise<string> {
  await mustBeRegular(file);
  return readFile(file, "utf8");
}

/** As {@link readModelText}, to read parts of it. */
export async function openModelFile(file: string): Promise<FileHandle> {
  await mustBeRegular(file);
  return open(file, "r");
}

async function mustBeRegular(file: string): Promise<void> {
  const found = await stat(file);
  if (found.isFile()) return;
  throw new SpotterError("model_corrupt", `${file} is no regular file.`, {
    where: file,
    hint: "Put the model's own file there.",
  });
}
