import type { TrainBatch } from "../engine-api.ts";
import type { ObjectiveShape } from "../models/objective.ts";

type ObjectiveTerms = Pick<
  TrainBatch,
  "loss" | "ratio" | "klEstimator" | "klCoef" | "normalizer" | "entropyCoef"
>;

/** The graph that has the terms of this batch's objective. */
export function objectiveShape(batch: ObjectiveTerms): ObjectiveShape {
  const { loss, ratio, klEstimator, klCoef, normalizer, entropyCoef = 0 } = batch;
  return {
    trust: loss === "dppo" || loss === "ipo" ? "mask" : "clip",
    ratio: ratio ?? "token",
    kl: klCoef === 0 ? "k3" : (klEstimator ?? "k3"),
    klWeight: klCoef !== 0 && normalizer === "sequence" ? "own" : "shared",
    entropy: entropyCoef !== 0,
  };
}
