import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { SpotterError } from "../sdk/schema/errors.ts";
import type { ModelRef } from "../sdk/schema/model.ts";

/** Models that come with the package, and their folder beside this file (in the source as in dist). */
const SHIPPED: Record<string, string> = { "spotter/nano": "nano" };

/**
 * The folder with config.json, weights and tokenizer of a model: one shipped with the package, or an
 * absolute path.
 *
 * @throws SpotterError `model_not_found`.
 * @example
 * await modelFolder({ name: "spotter/nano" });
 */
export async function modelFolder(model: ModelRef): Promise<string> {
  const shipped = SHIPPED[model.name];
  if (shipped === undefined && !isAbsolute(model.name))
    throw notFound(model.name, "is not a model known here");
  const folder = shipped === undefined ? model.name : join(import.meta.dirname, "models", shipped);
  const config = await stat(join(folder, "config.json")).catch(() => undefined);
  if (config?.isFile() !== true) throw notFound(model.name, `has no config.json in ${folder}`);
  return folder;
}

function notFound(name: string, why: string): SpotterError {
  return new SpotterError("model_not_found", `Model "${name}" ${why}.`, {
    where: "model.name",
    hint: `Use ${Object.keys(SHIPPED).join(", ")} or the absolute path of a folder with config.json, model.safetensors and tokenizer.json.`,
  });
}
