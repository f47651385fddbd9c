import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/**
 * Causal attention with grouped query heads. The queries of a group are rows of one matrix, so keys and
 * values are never repeated and their gradients sum over the group in the matrix product.
 *
 * @param q [B, KV, G*S, hd], the G heads of a group one after the other
 * @param k [B, KV, S, hd]
 * @param v [B, KV, S, hd]
 * @param mask [G*S, S], added to the scores
 * @returns [B, KV, G*S, hd]
 */
export function attention(tape: Tape, q: Value, k: Value, v: Value, mask: Value): Value {
  const { graph } = tape;
  const alpha = 1 / Math.sqrt(Number(q.shape[3]));
  const scores = ops.add(graph, ops.matMul(graph, q, k, { transB: true, alpha }), mask);
  const p = ops.softmax(graph, scores);
  const y = ops.matMul(graph, p, v);
  tape.record([q, k, v], [y], ([dy]) => {
    if (dy === undefined) return;
    tape.accumulateProduct(v, p, dy, { transA: true });
    if (!tape.requires(q, k)) return;
    const weighted = ops.multiply(graph, p, ops.matMul(graph, dy, v, { transB: true }));
    const total = ops.reduceSum(graph, weighted, -1, true);
    const dScores = ops.subtract(graph, weighted, ops.multiply(graph, p, total));
    tape.accumulateProduct(q, dScores, k, { alpha });
    tape.accumulateProduct(k, dScores, q, { transA: true, alpha });
  });
  return y;
}
