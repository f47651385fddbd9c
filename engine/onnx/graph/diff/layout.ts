import type { Shape } from "../dim.ts";
import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

export function reshape(tape: Tape, x: Value, shape: Shape): Value {
  const { graph } = tape;
  const y = ops.reshape(graph, x, shape);
  tape.record([x], [y], ([dy]) => {
    if (dy !== undefined) tape.accumulate(x, ops.reshape(graph, dy, x.shape));
  });
  return y;
}

export function transpose(tape: Tape, x: Value, order: readonly number[]): Value {
  const { graph } = tape;
  const y = ops.transpose(graph, x, order);
  const inverse = order.map((_, axis) => order.indexOf(axis));
  tape.record([x], [y], ([dy]) => {
    if (dy !== undefined) tape.accumulate(x, ops.transpose(graph, dy, inverse));
  });
  return y;
}

/** Cuts the last axis. */
export function split(tape: Tape, x: Value, sizes: readonly number[]): Value[] {
  const { graph } = tape;
  const parts = ops.split(graph, x, sizes);
  tape.record([x], parts, (gradients) => {
    const width = sizes.reduce((sum, size) => sum + size, 0);
    tape.accumulate(x, ops.concat(graph, gradients, -1, width));
  });
  return parts;
}
