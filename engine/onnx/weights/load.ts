import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { ParameterSpec } from "../models/llama-parameters.ts";
import type { ParameterSet } from "../models/parameter-set.ts";
import { findGguf } from "./gguf/find-gguf.ts";
import { readModelText } from "./model-file.ts";
import { openWeights } from "./weights-file.ts";

const INDEX = "model.safetensors.index.json";
const SINGLE = "model.safetensors";

const shardIndex = z.object({ weight_map: z.record(z.string(), z.string()) });

/**
 * The weight files of a model folder: one, or the shards its index lists. A GGUF file is its own.
 *
 * @throws SpotterError `model_not_found` where there are none, `model_corrupt` where the index is damaged.
 */
export async function weightFiles(modelDir: string): Promise<string[]> {
  const gguf = await findGguf(modelDir);
  if (gguf !== undefined) return [gguf];
  const names = await readdir(modelDir).catch((cause: unknown) => {
    throw new SpotterError("model_not_found", `${modelDir} is no folder that can be read.`, { cause });
  });
  if (names.includes(SINGLE)) return [join(modelDir, SINGLE)];
  if (!names.includes(INDEX)) {
    throw new SpotterError("model_not_found", `No weights in ${modelDir}: neither ${SINGLE} nor ${INDEX}.`, {
      where: modelDir,
      hint: "Give a folder with safetensors weights, or a GGUF file.",
    });
  }
  const file = join(modelDir, INDEX);
  const index = z.safeParse(shardIndex, await readJson(file));
  if (!index.success) {
    throw new SpotterError("model_corrupt", `${file} has no weight_map from tensor to file.`, {
      where: file,
    });
  }
  const shards = new Set(Object.values(index.data.weight_map));
  for (const shard of shards) {
    // A shard is a plain name: an index must not lead out of the folder.
    if (!names.includes(shard)) {
      throw new SpotterError("model_corrupt", `${file} lists ${shard}, which is not in the folder.`, {
        where: file,
        hint: "Download the missing shards.",
      });
    }
  }
  return [...shards].sort().map((shard) => join(modelDir, shard));
}

/**
 * Compares what a model should have with the headers of its files, before memory is set aside for it: a
 * damaged config.json may ask for more than there is.
 *
 * @throws SpotterError `model_corrupt` naming the first tensor that is missing or has another shape.
 */
export async function checkShapes(specs: readonly ParameterSpec[], files: readonly string[]): Promise<void> {
  const missing = new Map(
    specs.flatMap(({ shape, parts }) =>
      parts.map(({ name, rows }): [string, number[]] => [name, [rows, ...shape.slice(1)]]),
    ),
  );
  for (const path of files) {
    const file = await openWeights(path);
    await file.close();
    for (const [name, { shape }] of file.tensors) {
      const wanted = missing.get(name);
      if (wanted !== undefined && wanted.join() !== shape.join()) throw otherShape(path, name, shape, wanted);
      missing.delete(name);
    }
  }
  throwIfMissing(missing, files);
}

/**
 * Fills every parameter from the files, which may hold other tensors as well.
 *
 * @throws SpotterError `model_corrupt` naming the first tensor that is missing or has another shape.
 */
export async function loadInto(parameters: ParameterSet, files: readonly string[]): Promise<void> {
  const wanted = parameters.diskTensors();
  const missing = new Map(wanted.map((tensor) => [tensor.name, tensor]));
  for (const path of files) {
    const file = await openWeights(path);
    try {
      for (const { name, shape, data } of wanted) {
        const entry = file.tensors.get(name);
        if (entry === undefined) continue;
        if (entry.shape.join() !== shape.join()) {
          throw otherShape(path, name, entry.shape, shape);
        }
        await file.readInto(name, data);
        missing.delete(name);
      }
    } finally {
      await file.close();
    }
  }
  throwIfMissing(missing, files);
}

function otherShape(
  path: string,
  name: string,
  found: readonly number[],
  wanted: readonly number[],
): SpotterError {
  return new SpotterError("model_corrupt", `${path}: ${name} is [${found.join()}], not [${wanted.join()}].`, {
    where: `${path}: ${name}`,
    hint: "The weights belong to another config.json.",
  });
}

function throwIfMissing(missing: ReadonlyMap<string, unknown>, files: readonly string[]): void {
  const [first] = missing.keys();
  if (first === undefined) return;
  throw new SpotterError(
    "model_corrupt",
    `${files.join(", ")}: ${first} is missing (${missing.size} in all).`,
    {
      where: files[0],
      hint: "The weights are incomplete or belong to another model.",
    },
  );
}

/** @throws SpotterError `model_corrupt` where it is not JSON, `model_not_found` where it cannot be read. */
export async function readJson(file: string): Promise<unknown> {
  const text = await readModelText(file).catch((cause: unknown) => {
    if (SpotterError.is(cause)) throw cause;
    throw new SpotterError("model_not_found", `${file} cannot be read.`, { where: file, cause });
  });
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SpotterError("model_corrupt", `${file} is not JSON.`, { where: file, cause });
  }
}
