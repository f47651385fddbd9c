import type { Graph } from "../graph/graph.ts";
import * as ops from "../graph/ops/index.ts";
import type { Value } from "../graph/value.ts";

/** What the training objective is made of, besides the log-probabilities. */
export interface ObjectiveInputs {
  /** [M, 1]: weight of each token, the normaliser already divided out. */
  advantages: Value;
  /** [M, 1]: log-probabilities at sampling time; unused while `ratioScale` is 0. */
  oldLogprobs: Value;
  /** [M, 1]: log-probabilities under the reference; unused while `klScale` is 0. */
  refLogprobs: Value;
  /** 1: ratios to the sampling policy, as PPO has them. 0: the ratio is 1, as SFT has it. */
  ratioScale: Value;
  /** Bounds of the ratio, 1 - clipLow and 1 + clipHigh. */
  clipMin: Value;
  clipMax: Value;
  /** 1 with a KL term, 0 without: a weight of 0 alone would not keep an overflow out. */
  klScale: Value;
  /** Weight of the KL estimate, the normaliser already divided out. */
  klWeight: Value;
}

/** Declares the inputs `advantages`, `old_logprobs`, `ref_logprobs` [M, 1] and the scalars of the objective. */
export function objectiveInputs(graph: Graph): ObjectiveInputs {
  const perToken = (name: string): Value => graph.input(name, "float32", ["M", 1]);
  const scalar = (name: string): Value => graph.input(name, "float32", []);
  return {
    advantages: perToken("advantages"),
    oldLogprobs: perToken("old_logprobs"),
    refLogprobs: perToken("ref_logprobs"),
    ratioScale: scalar("ratio_scale"),
    clipMin: scalar("clip_min"),
    clipMax: scalar("clip_max"),
    klScale: scalar("kl_scale"),
    klWeight: scalar("kl_weight"),
  };
}

/**
 * `-dLoss/dlogprob` [M, 1] of `Loss = sum(-min(r A, clip(r) A) + klWeight k3)`: the clipped objective of PPO
 * (arXiv:1707.06347, eq. 7) and the k3 estimate (http://joschu.net/blog/kl-approx.html) with
 * `r = exp(logprob - old)`, `k3 = exp(ref - logprob) - (ref - logprob) - 1`.
 *
 * Where the clipped branch is the smaller one its derivative is 0, else it is `r A`; k3 adds
 * `klWeight (exp(ref - logprob) - 1)`.
 */
export function coefficient(graph: Graph, logprob: Value, inputs: ObjectiveInputs): Value {
  const { advantages, clipMin, clipMax } = inputs;
  const logRatio = ops.subtract(graph, logprob, inputs.oldLogprobs);
  const ratio = ops.exp(graph, ops.multiply(graph, logRatio, inputs.ratioScale));
  const free = ops.multiply(graph, ratio, advantages);
  const clipped = ops.multiply(graph, ops.clip(graph, ratio, clipMin, clipMax), advantages);
  const isFree = ops.cast(graph, ops.lessOrEqual(graph, free, clipped), "float32");
  const surrogate = ops.multiply(graph, free, isFree);
  const distance = ops.multiply(graph, ops.subtract(graph, inputs.refLogprobs, logprob), inputs.klScale);
  const pull = ops.subtract(graph, ops.exp(graph, distance), graph.scalar(1));
  return ops.add(graph, surrogate, ops.multiply(graph, pull, inputs.klWeight));
}
