import { isGguf } from "./gguf/find-gguf.ts";
import { GgufWeights } from "./gguf/gguf-weights.ts";
import { SafetensorsFile } from "./safetensors.ts";

/** An open file of weights, with tensors by Hugging Face's names; they are read one at a time. */
export interface WeightsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, { readonly shape: number[] }>;
  /** Reads a tensor as float32 into `target`, which must be exactly as large. */
  readInto(name: string, target: Float32Array): Promise<void>;
  close(): Promise<void>;
}

/** @throws SpotterError `model_not_found`, `model_corrupt` or `model_unsupported`. */
export function openWeights(path: string): Promise<WeightsFile> {
  return isGguf(path) ? GgufWeights.open(path) : SafetensorsFile.open(path);
}
