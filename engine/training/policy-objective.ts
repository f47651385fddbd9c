import type { GrpoAlgorithm } from "../../sdk/schema/grpo-algorithm.ts";
import type { TrainBatch, TrainerSetup } from "../onnx/engine-api.ts";
import { objectiveShape } from "../onnx/train/objective-shape.ts";

/** What of a training batch hangs on the algorithm. */
export type PolicyObjective = Omit<
  TrainBatch,
  "sequences" | "temperature" | "learningRate" | "microBatchSize"
>;

/**
 * The objective of a step that sampled so many answers of at most `maxTokens`. A divergence that is taken off the reward
 * is no term of the loss.
 */
export function policyObjective(
  algorithm: GrpoAlgorithm,
  { samples, maxTokens }: { samples: number; maxTokens: number },
): PolicyObjective {
  const { loss, ratio, clipLow, clipHigh, normalizer, klCoef, klIn, klEstimator, entropyCoef } = algorithm;
  const { maskLow, maskHigh, driftCoef, importanceCap } = algorithm;
  return {
    loss,
    clipLow,
    clipHigh,
    ...(loss === "dppo" || loss === "ipo" ? { maskLow, maskHigh, driftCoef } : {}),
    ratio,
    normalizer: normalizer === "constant" ? samples * maxTokens : normalizer,
    klCoef: klIn === "loss" ? klCoef : 0,
    klEstimator,
    entropyCoef,
    ...(importanceCap === undefined ? {} : { importanceCap }),
  };
}

/** What the trainer should be ready for. */
export function objectiveSetup(algorithm: GrpoAlgorithm): Pick<TrainerSetup, "objective" | "reference"> {
  return {
    objective: objectiveShape(policyObjective(algorithm, { samples: 1, maxTokens: 1 })),
    reference: algorithm.klCoef > 0,
  };
}
