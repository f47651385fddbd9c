import * as ops from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/** Rows of `table` [V, D] for `ids` [N]. */
export function embedding(tape: Tape, table: Value, ids: Value): Value {
  const { graph } = tape;
  const y = ops.gather(graph, table, ids);
  tape.record([table], [y], ([dy]) => {
    if (dy !== undefined) tape.accumulateRows(table, ids, dy);
  });
  return y;
}

/** Rows `rows` [M] of `x` [N, D], every row at most once. */
export function selectRows(tape: Tape, x: Value, rows: Value): Value {
  const { graph } = tape;
  const y = ops.gather(graph, x, rows);
  tape.record([x], [y], ([dy]) => {
    if (dy !== undefined) {
      tape.accumulate(x, ops.setRows(graph, ops.zeros(graph, x.shape), rows, dy));
    }
  });
  return y;
}
