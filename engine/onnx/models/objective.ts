import type { Graph } from "../graph/graph.ts";
import * as ops from "../graph/ops/index.ts";
import type { Value } from "../graph/value.ts";

/** How the divergence from the reference is estimated (http://joschu.net/blog/kl-approx.html). */
export type KlEstimator = "k1" | "k2" | "k3";

/** Which terms the graph of an objective has; those it has not cost nothing. */
export interface ObjectiveShape {
  /** How a token that has moved far enough is kept from moving further. */
  trust: "clip" | "mask";
  /** Whose ratio to the sampling policy a token's weight is. */
  ratio: "token" | "sequence";
  kl: KlEstimator;
  /** Whether the KL estimate of all tokens has one weight, or of each its own. */
  klWeight: "shared" | "own";
  entropy: boolean;
}

/** What SFT, PPO and plain importance sampling need. */
export const PLAIN: ObjectiveShape = {
  trust: "clip",
  ratio: "token",
  kl: "k3",
  klWeight: "shared",
  entropy: false,
};

/** What the training objective is made of, besides the log-probabilities. */
export interface ObjectiveInputs {
  shape: ObjectiveShape;
  /** [M, 1]: weight of each token, the normaliser already divided out. */
  advantages: Value;
  /** [M, 1]: log-probabilities at sampling time; unused while `ratioScale` is 0. */
  oldLogprobs: Value;
  /** [M, 1]: log-probabilities under the reference; unused while `klScale` is 0. */
  refLogprobs: Value;
  /** 1: ratios to the sampling policy, as PPO has them. 0: the ratio is 1, as SFT has it. */
  ratioScale: Value;
  /** 1 with a KL term, 0 without: a weight of 0 alone would not keep an overflow out. */
  klScale: Value;
  /** Scalar, or [M, 1] where each is its own: weight of the KL estimate, the normaliser already divided out. */
  klWeight: Value;
  /** Of `clip`: bounds of the ratio, 1 - clipLow and 1 + clipHigh. */
  clip?: { min: Value; max: Value };
  /** Of `mask`, [M, 1]: how far a probability may have moved, and twice the weight of the squared log-ratio. */
  mask?: { min: Value; max: Value; drift: Value };
  /** Of sequence ratios: float32 [Q, M], each row 1/length on its sequence's tokens, and int64 [M], a token's row. */
  sequences?: { means: Value; owners: Value };
  /** [M, 1]: weight of the entropy, the normaliser already divided out. */
  entropyWeight?: Value;
}

/** Declares the inputs of an objective: those of {@link ObjectiveInputs} in snake case. */
export function objectiveInputs(graph: Graph, shape: ObjectiveShape): ObjectiveInputs {
  const perToken = (name: string): Value => graph.input(name, "float32", ["M", 1]);
  const scalar = (name: string): Value => graph.input(name, "float32", []);
  return {
    shape,
    advantages: perToken("advantages"),
    oldLogprobs: perToken("old_logprobs"),
    refLogprobs: perToken("ref_logprobs"),
    ratioScale: scalar("ratio_scale"),
    ...(shape.trust === "clip"
      ? { clip: { min: scalar("clip_min"), max: scalar("clip_max") } }
      : { mask: { min: perToken("mask_min"), max: perToken("mask_max"), drift: perToken("drift_weight") } }),
    klScale: scalar("kl_scale"),
    klWeight: shape.klWeight === "own" ? perToken("kl_weight") : scalar("kl_weight"),
    ...(shape.ratio === "sequence" && {
      sequences: {
        means: graph.input("sequence_means", "float32", ["Q", "M"]),
        owners: graph.input("sequence_owners", "int64", ["M"]),
      },
    }),
    ...(shape.entropy && { entropyWeight: perToken("entropy_weight") }),
  };
}

/**
 * `-dLoss/dlogprob` [M, 1] of `Loss = sum(-surrogate(r, A) + klWeight k)`, where `r = exp(logprob - old)`, or its
 * geometric mean over the sequence (arXiv:2507.18071, eq. 7; differentiated token by token as in eq. 14).
 *
 * - `clip`: `min(r A, clip(r) A)` (arXiv:1707.06347, eq. 7). Where the clipped branch is the smaller one its
 *   derivative is 0, else it is `r A`. Bounds of 0 and infinity leave plain importance sampling.
 * - `mask`: `keep r A - drift/2 log(r)^2`, where a token is kept while its probability has moved by no more than its
 *   bounds (arXiv:2602.04879; the square as in arXiv:2602.02276): `keep r A - drift log(r)`.
 */
export function coefficient(graph: Graph, logprob: Value, inputs: ObjectiveInputs): Value {
  const logRatio = logRatios(graph, logprob, inputs);
  const ratio = ops.exp(graph, ops.multiply(graph, logRatio, inputs.ratioScale));
  const surrogate =
    inputs.mask === undefined
      ? clipped(graph, ratio, inputs)
      : masked(graph, { logprob, logRatio, ratio }, inputs, inputs.mask);
  return ops.add(graph, surrogate, ops.multiply(graph, klPull(graph, logprob, inputs), inputs.klWeight));
}

function logRatios(graph: Graph, logprob: Value, { oldLogprobs, sequences }: ObjectiveInputs): Value {
  const perToken = ops.subtract(graph, logprob, oldLogprobs);
  if (sequences === undefined) return perToken;
  return ops.gather(graph, ops.matMul(graph, sequences.means, perToken), sequences.owners);
}

function clipped(graph: Graph, ratio: Value, { advantages, clip }: ObjectiveInputs): Value {
  if (clip === undefined) throw new RangeError("Nothing says where to clip");
  const free = ops.multiply(graph, ratio, advantages);
  const bounded = ops.multiply(graph, ops.clip(graph, ratio, clip.min, clip.max), advantages);
  const isFree = ops.cast(graph, ops.lessOrEqual(graph, free, bounded), "float32");
  return ops.multiply(graph, free, isFree);
}

function masked(
  graph: Graph,
  { logprob, logRatio, ratio }: { logprob: Value; logRatio: Value; ratio: Value },
  { advantages, oldLogprobs }: ObjectiveInputs,
  { min, max, drift }: { min: Value; max: Value; drift: Value },
): Value {
  const moved = ops.subtract(graph, ops.exp(graph, logprob), ops.exp(graph, oldLogprobs));
  const isAbove = ops.cast(graph, ops.lessOrEqual(graph, min, moved), "float32");
  const isBelow = ops.cast(graph, ops.lessOrEqual(graph, moved, max), "float32");
  const kept = ops.multiply(
    graph,
    ops.multiply(graph, ratio, advantages),
    ops.multiply(graph, isAbove, isBelow),
  );
  return ops.subtract(graph, kept, ops.multiply(graph, logRatio, drift));
}

/**
 * `-dk/dlogprob` of the estimate with `d = ref - logprob` (http://joschu.net/blog/kl-approx.html):
 * `k1 = -d`: -1. `k2 = d^2 / 2`: d. `k3 = exp(d) - d - 1`: exp(d) - 1.
 */
function klPull(graph: Graph, logprob: Value, { shape, refLogprobs, klScale }: ObjectiveInputs): Value {
  if (shape.kl === "k1") return graph.scalar(-1);
  const distance = ops.multiply(graph, ops.subtract(graph, refLogprobs, logprob), klScale);
  if (shape.kl === "k2") return distance;
  return ops.subtract(graph, ops.exp(graph, distance), graph.scalar(1));
}
