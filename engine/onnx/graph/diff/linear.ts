import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/**
 * `x wᵀ` for rows `x` [N, in] and a weight `w` [out, in], the layout weights have on disk. With `base`
 * [N, out], or a bias [out] for every row, gives `base + factor x wᵀ` in one kernel.
 */
export function linear(tape: Tape, x: Value, w: Value, base?: Value, factor = 1): Value {
  const { graph } = tape;
  const forward = { transB: true, alpha: factor };
  const y = base === undefined ? ops.matMul(graph, x, w, forward) : ops.gemm(graph, x, w, base, forward);
  tape.record(base === undefined ? [x, w] : [x, w, base], [y], ([dy]) => {
    if (dy === undefined) return;
    if (base !== undefined && tape.requires(base)) {
      tape.accumulate(base, base.shape.length === 1 ? ops.reduceSum(graph, dy, 0, false) : dy);
    }
    tape.accumulateProduct(x, dy, w, { alpha: factor });
    tape.accumulateProduct(w, dy, x, { transA: true, alpha: factor });
  });
  return y;
}
