import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/** `a + b` of equal shapes. */
export function add(tape: Tape, a: Value, b: Value): Value {
  const y = ops.add(tape.graph, a, b);
  tape.record([a, b], [y], ([dy]) => {
    if (dy === undefined) return;
    tape.accumulate(a, dy);
    tape.accumulate(b, dy);
  });
  return y;
}

/** `a * b` of equal shapes. */
export function multiply(tape: Tape, a: Value, b: Value): Value {
  const { graph } = tape;
  const y = ops.multiply(graph, a, b);
  tape.record([a, b], [y], ([dy]) => {
    if (dy === undefined) return;
    if (tape.requires(a)) tape.accumulate(a, ops.multiply(graph, dy, b));
    if (tape.requires(b)) tape.accumulate(b, ops.multiply(graph, dy, a));
  });
  return y;
}

/** `x` times a scalar that is no weight. */
export function scale(tape: Tape, x: Value, factor: Value): Value {
  const { graph } = tape;
  const y = ops.multiply(graph, x, factor);
  tape.record([x], [y], ([dy]) => {
    if (dy !== undefined) tape.accumulate(x, ops.multiply(graph, dy, factor));
  });
  return y;
}

/** `x sigmoid(x)`. */
export function silu(tape: Tape, x: Value): Value {
  const { graph } = tape;
  if (!tape.requires(x)) return ops.quickGelu(graph, x);
  const s = ops.sigmoid(graph, x);
  const y = ops.multiply(graph, x, s);
  tape.record([x], [y], ([dy]) => {
    if (dy === undefined) return;
    // y' = s + x s (1 - s) = y + s (1 - y)
    const rest = ops.subtract(graph, graph.scalar(1), y);
    const slope = ops.add(graph, y, ops.multiply(graph, s, rest));
    tape.accumulate(x, ops.multiply(graph, dy, slope));
  });
  return y;
}
