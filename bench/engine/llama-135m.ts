import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LlamaConfig } from "../../engine/onnx/models/llama-config.ts";
import { randomPolicy } from "../../engine/onnx/train/init.ts";
import { writeGguf } from "./write-gguf.ts";

/** The shape of SmolLM2-135M. */
export const LLAMA_135M: LlamaConfig = {
  family: "llama",
  vocabularySize: 49152,
  hiddenSize: 576,
  layers: 30,
  heads: 9,
  keyValueHeads: 3,
  headSize: 64,
  feedForwardSize: 1536,
  maxPositions: 2048,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
};

/** Random weights, once as a model folder and once as an F16 GGUF file; kept in `.cache` between runs. */
export async function llama135m(): Promise<{ modelDir: string; ggufFile: string }> {
  const modelDir = join(import.meta.dirname, "../../.cache/llama-135m");
  const ggufFile = join(modelDir, "model-f16.gguf");
  if (!existsSync(ggufFile)) {
    mkdirSync(modelDir, { recursive: true });
    const policy = randomPolicy(LLAMA_135M, 1);
    await policy.save(modelDir, "BF16");
    writeGguf(policy, ggufFile);
  }
  return { modelDir, ggufFile };
}
