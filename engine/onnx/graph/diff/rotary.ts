import * as ops from "../ops/index.ts";
import type { RotaryTables } from "../ops/index.ts";
import type { Tape } from "../tape.ts";
import type { Value } from "../value.ts";

/**
 * Rotary position embedding of `x` [B, heads, S, hd]. A rotation's transpose turns the other way, so the
 * gradient is the same kernel with the sines negated.
 */
export function rotary(tape: Tape, x: Value, tables: RotaryTables): Value {
  const { graph } = tape;
  const y = ops.rotaryEmbedding(graph, x, tables);
  tape.record([x], [y], ([dy]) => {
    if (dy === undefined) return;
    const sin = graph.cached(`negated ${tables.sin.name}`, () => ops.negate(graph, tables.sin));
    tape.accumulate(x, ops.rotaryEmbedding(graph, dy, { ...tables, sin }));
  });
  return y;
}
