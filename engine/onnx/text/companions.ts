import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { writeGgufCompanions } from "./gguf-folder.ts";

/** Files of a model folder that are not weights and belong to every copy of it. */
const COMPANIONS = [
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "generation_config.json",
  "chat_template.jinja",
];

/** Puts tokenizer, chat template and generation settings of a model, or of a GGUF file, beside weights in `dir`. */
export async function writeCompanions(modelDir: string, dir: string): Promise<void> {
  if (await writeGgufCompanions(modelDir, dir)) return;
  const present = await readdir(modelDir);
  for (const file of COMPANIONS.filter((name) => present.includes(name))) {
    await copyFile(join(modelDir, file), join(dir, file));
  }
}
