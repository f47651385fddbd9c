import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGguf } from "../weights/gguf/find-gguf.ts";
import { GgufFile } from "../weights/gguf/gguf-file.ts";
import { hfConfigOf } from "../weights/gguf/hf-config.ts";
import { ggufTexts, type GgufTexts } from "./gguf-tokenizer.ts";

/** The JSON files of a model folder that a GGUF file stands for. */
export type GgufFolder = GgufTexts & { "config.json": Record<string, unknown> };

/**
 * What config.json, tokenizer.json and the others would hold if a GGUF file were a model folder; undefined
 * where the place is a folder of Hugging Face's kind.
 *
 * @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`, naming file and key.
 */
export async function readGgufFolder(
  place: string,
): Promise<{ path: string; files: GgufFolder } | undefined> {
  const path = await findGguf(place);
  if (path === undefined) return undefined;
  const file = await GgufFile.open(path);
  try {
    return { path, files: { "config.json": await hfConfigOf(file), ...ggufTexts(file) } };
  } finally {
    await file.close();
  }
}

/** Writes tokenizer and generation settings beside weights that came out of a GGUF file. False: it is none. */
export async function writeGgufCompanions(place: string, dir: string): Promise<boolean> {
  const found = await readGgufFolder(place);
  if (found === undefined) return false;
  for (const name of ["tokenizer.json", "tokenizer_config.json", "generation_config.json"] as const) {
    await writeFile(join(dir, name), `${JSON.stringify(found.files[name], null, 2)}\n`);
  }
  return true;
}
