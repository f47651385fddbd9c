import * as ops from "../ops/index.ts";
import type { Graph } from "../graph.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

export interface LogLikelihoodParams {
  /** [M, D]: last hidden states of the rows that predict a learnt token. */
  hidden: Value;
  /** [V, D]: the output embedding, tied or not. */
  head: Value;
  /** int64 [M, 1]: the tokens that came. */
  targets: Value;
  /** Scalar: logits are multiplied by it. */
  inverseTemperature: Value;
}

export interface LogLikelihood {
  /** [M, 1]: log-probability of each target. */
  logprob: Value;
  /** [M, 1]: entropy of the distribution each target was drawn from, in nats. */
  entropy: Value;
  /**
   * Starts the backward pass of a loss through its derivative `-dLoss/dlogprob` [M, 1]. In closed form
   * `dLoss/dlogits = coefficient (softmax - onehot)`; since it is linear in both, neither the product with
   * the coefficient nor the one-hot part is ever written out at [M, V].
   */
  seed: (coefficient: Value) => void;
  /**
   * Adds a loss `-sum(weight entropy)` with `weight` [M, 1]: `dLoss/dlogits = weight p (log p + entropy)`. It costs
   * another product at [M, V] in each direction.
   */
  seedEntropy: (weight: Value) => void;
}

/** The language-model head and the log-probability of given tokens. */
export function logLikelihood(tape: Tape, params: LogLikelihoodParams): LogLikelihood {
  const { graph } = tape;
  const { hidden, head, targets, inverseTemperature } = params;
  const [rows = 0] = hidden.shape;
  const flatTargets = ops.reshape(graph, targets, [rows]);
  const scaled = ops.multiply(graph, hidden, inverseTemperature);
  const logits = ops.matMul(graph, scaled, head, { transB: true });
  const logSoftmax = ops.logSoftmax(graph, logits);
  const logprob = ops.gatherColumns(graph, logSoftmax, targets);
  const p = ops.exp(graph, logSoftmax);
  // dLoss/dhidden needs how far the expected row of the head is from the target's, and the entropy follows from it
  // without another look at [M, V]: -sum p log p = log sum exp(logits) - sum p logits, where
  // sum p logits = scaled . expected and log sum exp(logits) = scaled . head[target] - logprob.
  const difference = tape.requires(hidden)
    ? ops.subtract(graph, ops.matMul(graph, p, head), ops.gather(graph, head, flatTargets))
    : undefined;
  const entropy = ops.negate(
    graph,
    difference === undefined
      ? rowSum(graph, p, logSoftmax)
      : ops.add(graph, rowSum(graph, scaled, difference), logprob),
  );
  return { logprob, entropy, seed, seedEntropy };

  function seed(coefficient: Value): void {
    if (difference !== undefined) {
      const factor = ops.multiply(graph, coefficient, inverseTemperature);
      tape.accumulate(hidden, ops.multiply(graph, difference, factor));
    }
    if (tape.requires(head)) {
      const weighted = ops.multiply(graph, scaled, coefficient);
      tape.accumulateProduct(head, p, weighted, { transA: true });
      tape.accumulateRows(head, flatTargets, ops.negate(graph, weighted));
    }
  }

  function seedEntropy(weight: Value): void {
    const surprise = ops.multiply(graph, p, ops.add(graph, logSoftmax, entropy));
    const dLogits = ops.multiply(graph, surprise, weight);
    if (tape.requires(hidden)) {
      const dScaled = ops.matMul(graph, dLogits, head);
      tape.accumulate(hidden, ops.multiply(graph, dScaled, inverseTemperature));
    }
    tape.accumulateProduct(head, dLogits, scaled, { transA: true });
  }
}

/** [M, 1]: the sum of products, row by row. */
function rowSum(graph: Graph, a: Value, b: Value): Value {
  return ops.reduceSum(graph, ops.multiply(graph, a, b), -1, true);
}
