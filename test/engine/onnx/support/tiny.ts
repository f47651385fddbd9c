import type { LlamaConfig } from "../../../../engine/onnx/models/llama-config.ts";

/** Small enough for a test to train in milliseconds, with grouped heads and two layers. */
export const tinyConfig: LlamaConfig = {
  family: "llama",
  vocabularySize: 40,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 16,
  feedForwardSize: 48,
  maxPositions: 64,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: true,
};
