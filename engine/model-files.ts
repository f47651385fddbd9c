import { stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { SpotterError } from "../sdk/schema/errors.ts";
import type { JobFile } from "../sdk/schema/job.ts";
import { nearestName } from "../sdk/schema/nearest-name.ts";
import { SHIPPED_MODELS, type ModelRef } from "../sdk/schema/model.ts";
import type { JobClient } from "./agent.ts";
import { findGguf } from "./onnx/weights/gguf/find-gguf.ts";

/** Models that come with the package, and their folder beside this file (in the source as in dist). */
const SHIPPED: Record<(typeof SHIPPED_MODELS)[number], string> = { "spotter/nano": "nano" };

/**
 * The folder of a job's model. Stored weights are fetched from the control plane, which has them since they
 * were pushed: no start of a container asks a hub.
 *
 * @throws SpotterError `model_not_found`.
 */
export async function fetchedModelFolder(
  model: ModelRef,
  files: readonly JobFile[] | undefined,
  client: Pick<JobClient, "download">,
  folder: string,
): Promise<string> {
  if (files === undefined) return modelFolder(model);
  await Promise.all(files.map((file) => client.download(file, join(folder, file.path))));
  return folder;
}

/**
 * The folder with config.json, weights and tokenizer of a model, or its GGUF file: one shipped with the
 * package, or an absolute path.
 *
 * @throws SpotterError `model_not_found`.
 * @example
 * await modelFolder({ name: "spotter/nano" });
 */
export async function modelFolder(model: ModelRef): Promise<string> {
  const name = SHIPPED_MODELS.find((each) => each === model.name);
  const shipped = name && SHIPPED[name];
  if (shipped === undefined && !isAbsolute(model.name)) throw notStored(model.name);
  const folder = shipped === undefined ? model.name : join(import.meta.dirname, "models", shipped);
  const gguf = await findGguf(folder);
  const file = await stat(gguf ?? join(folder, "config.json")).catch(() => undefined);
  if (file?.isFile() === true) return gguf ?? folder;
  throw notFound(model.name, gguf === undefined ? `has no config.json in ${folder}` : `is no file`);
}

function notStored(name: string): SpotterError {
  const near = nearestName(name, SHIPPED_MODELS);
  return new SpotterError(
    "model_not_found",
    `Model "${name}" does not come with the package and is not stored here.`,
    {
      where: "model.name",
      hint:
        near === undefined
          ? `Store its weights once with \`spotter model pull hf:${name}\`, or use ${SHIPPED_MODELS.join(", ")}.`
          : `Did you mean "${near}"?`,
    },
  );
}

function notFound(name: string, why: string): SpotterError {
  return new SpotterError("model_not_found", `Model "${name}" ${why}.`, {
    where: "model.name",
    hint: `Use ${SHIPPED_MODELS.join(", ")} or the absolute path of a GGUF file or of a folder with config.json, model.safetensors and tokenizer.json.`,
  });
}
