import type { Graph } from "../graph.ts";
import { int, string, type Value } from "../value.ts";
import { expand, unsqueeze } from "./layout.ts";

/** Rows of `table` [R, ...] at `rows` (int64, any shape). */
export function gather(graph: Graph, table: Value, rows: Value): Value {
  return graph.add({
    op: "Gather",
    inputs: [table, rows],
    attributes: { axis: int(0) },
    outputs: [{ type: table.type, shape: [...rows.shape, ...table.shape.slice(1)] }],
  })[0];
}

/** From `x` [M, V] the element of each row at `columns` [M, 1]. */
export function gatherColumns(graph: Graph, x: Value, columns: Value): Value {
  return graph.add({
    op: "GatherElements",
    inputs: [x, columns],
    attributes: { axis: int(1) },
    outputs: [{ type: x.type, shape: columns.shape }],
  })[0];
}

/** From `x` [B, H, T, D] the elements at `positions` [B, H, S, 1] of the third axis. Gives [B, H, S, D]. */
export function gatherPositions(graph: Graph, x: Value, positions: Value): Value {
  const [batch, heads, , width] = x.shape;
  const [, , count] = positions.shape;
  if (batch === undefined || heads === undefined || width === undefined || count === undefined) {
    throw new RangeError(`No positions of [${x.shape.join()}] by [${positions.shape.join()}]`);
  }
  return graph.add({
    op: "GatherND",
    inputs: [x, positions],
    attributes: { batch_dims: int(2) },
    outputs: [{ type: x.type, shape: [batch, heads, count, width] }],
  })[0];
}

/**
 * Adds `updates` [M, D] to the rows `rows` [M] of `table` [R, D]; a row may come several times.
 *
 * ScatterElements and not ScatterND: the latter adds from several threads at once on CPU and loses additions
 * where rows repeat.
 */
export function addToRows(graph: Graph, table: Value, rows: Value, updates: Value): Value {
  const index = expand(graph, unsqueeze(graph, rows, 1), updates.shape);
  return graph.add({
    op: "ScatterElements",
    inputs: [table, index, updates],
    attributes: { axis: int(0), reduction: string("add") },
    outputs: [{ type: table.type, shape: table.shape }],
  })[0];
}

/** Puts `updates` [M, D] into the rows `rows` [M] of `table` [R, D]; every row at most once. */
export function setRows(graph: Graph, table: Value, rows: Value, updates: Value): Value {
  return graph.add({
    op: "ScatterND",
    inputs: [table, unsqueeze(graph, rows, 1), updates],
    outputs: [{ type: table.type, shape: table.shape }],
  })[0];
}
