import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { toHfConfig } from "../onnx/models/llama-config.ts";
import { ggufVocabulary } from "../onnx/text/gguf-vocabulary.ts";
import { readModelTexts } from "../onnx/text/model-texts.ts";
import { ggufFileOf } from "../onnx/weights/gguf/model-metadata.ts";
import type { WrittenType } from "../onnx/weights/gguf/quantize.ts";
import { writeGguf } from "../onnx/weights/gguf/write-gguf.ts";
import { writeSafetensorsOf } from "../onnx/weights/safetensors.ts";
import { writeCompanions } from "../onnx/text/companions.ts";
import { MergedWeights } from "./merged-weights.ts";

/** What is written, and from what. */
export interface ModelExport {
  /** A folder of Hugging Face's kind, or a GGUF file. */
  modelDir: string;
  /** Merged into the weights. */
  adapterDir?: string | undefined;
  format: "hf" | "gguf";
  /** How weights are stored; what is lost is lost for good. */
  type: WrittenType;
  /** `hf`: a folder to be made. `gguf`: a file to be made. */
  output: string;
  /** What the model is called in the file. */
  name: string;
}

export interface ModelExported {
  /** The folder or file. */
  path: string;
  warnings: string[];
}

const HF_TYPES = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

/**
 * Writes a model in another format. Nothing is at `output` before all of it is there.
 *
 * @throws SpotterError `conflict` where something is there already, and what reading the model throws.
 */
export async function exportModel(request: ModelExport): Promise<ModelExported> {
  const { output, modelDir, adapterDir } = request;
  await mustBeFree(output);
  await using weights = await MergedWeights.open(modelDir, adapterDir);
  const partial = join(dirname(output), `.${basename(output)}.part`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(partial), { recursive: true });
  try {
    const write = request.format === "hf" ? writeFolder : writeGgufFile;
    const warnings = await write(weights, request, partial);
    await rename(partial, output);
    return { path: output, warnings };
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function writeFolder(weights: MergedWeights, request: ModelExport, dir: string): Promise<string[]> {
  const { type, modelDir } = request;
  if (type === "Q8_0") {
    throw new SpotterError("invalid_input", "A Hugging Face folder holds no Q8_0.", {
      where: "type",
      hint: "Choose f32, bf16 or f16, or the format gguf.",
    });
  }
  await mkdir(dir);
  const config = { ...toHfConfig(weights.config), torch_dtype: HF_TYPES[type] };
  await writeFile(join(dir, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  await writeSafetensorsOf(join(dir, "model.safetensors"), weights.tensors(), type);
  await writeCompanions(modelDir, dir);
  return [];
}

async function writeGgufFile(weights: MergedWeights, request: ModelExport, path: string): Promise<string[]> {
  const { config } = weights;
  const { metadata, warnings } = ggufVocabulary(
    await readModelTexts(request.modelDir),
    config.vocabularySize,
  );
  const file = ggufFileOf(config, weights.tensors(), request);
  await writeGguf(path, new Map([...file.metadata, ...metadata]), file.tensors);
  return warnings;
}

async function mustBeFree(output: string): Promise<void> {
  const found = await stat(output).catch(() => undefined);
  if (found === undefined) return;
  throw new SpotterError("conflict", `${output} is there already.`, {
    where: "output",
    hint: "Choose another place, or remove it first.",
  });
}
