import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/** `x / rms(x) * weight` over rows [N, D] (arXiv:1910.07467). */
export function rmsNorm(tape: Tape, x: Value, weight: Value, epsilon: number): Value {
  const { graph } = tape;
  const { y, inverse } = ops.rmsNorm(graph, x, weight, epsilon);
  tape.record([x, weight], [y], ([dy]) => {
    if (dy === undefined) return;
    const normal = ops.multiply(graph, x, inverse);
    if (tape.requires(weight)) {
      tape.accumulate(weight, ops.reduceSum(graph, ops.multiply(graph, dy, normal), 0, false));
    }
    if (!tape.requires(x)) return;
    const dNormal = ops.multiply(graph, dy, weight);
    const along = ops.reduceMean(graph, ops.multiply(graph, dNormal, normal), -1, true);
    const across = ops.subtract(graph, dNormal, ops.multiply(graph, normal, along));
    tape.accumulate(x, ops.multiply(graph, across, inverse));
  });
  return y;
}
