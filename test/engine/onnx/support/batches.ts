import type { TrainBatch, TrainerSetup, TrainSequence } from "../../../../engine/onnx/engine-api.ts";

export const setup: TrainerSetup = {
  optimizer: { type: "adamw", beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 },
  reference: false,
  seed: 1,
};

/** Learns everything behind the first two tokens. */
export function sequence(ids: number[], advantage = 1): TrainSequence {
  const mask = ids.map((_, position) => (position >= 2 ? 1 : 0));
  return { ids, mask, advantages: mask.map((learnt) => learnt * advantage) };
}

export const sequences: TrainSequence[] = [
  sequence([3, 17, 8, 30, 2, 9, 14, 21, 5]),
  sequence([12, 1, 39, 7]),
  sequence([25, 25, 6, 11, 19, 33]),
  sequence([4, 4, 4, 20, 31, 2, 2]),
  sequence([9, 8, 7]),
];

export function batch(change: Partial<TrainBatch> = {}): TrainBatch {
  return {
    sequences,
    loss: "sft",
    clipLow: 0.2,
    clipHigh: 0.2,
    klCoef: 0,
    temperature: 1,
    learningRate: 0.01,
    microBatchSize: 8,
    ...change,
  };
}
