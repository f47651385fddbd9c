import type { Dim } from "../dim.ts";
import type { Graph } from "../graph.ts";
import { int, type Value } from "../value.ts";

/** Sum over one axis. */
export function reduceSum(graph: Graph, x: Value, axis: number, keepDims: boolean): Value {
  return reduce(graph, "ReduceSum", x, axis, keepDims);
}

/** Mean over one axis. */
export function reduceMean(graph: Graph, x: Value, axis: number, keepDims: boolean): Value {
  return reduce(graph, "ReduceMean", x, axis, keepDims);
}

/** Softmax over the last axis. */
export function softmax(graph: Graph, x: Value): Value {
  return alongLast(graph, "Softmax", x);
}

/** Logarithm of the softmax over the last axis. */
export function logSoftmax(graph: Graph, x: Value): Value {
  return alongLast(graph, "LogSoftmax", x);
}

function reduce(graph: Graph, op: string, x: Value, axis: number, keepDims: boolean): Value {
  const at = axis < 0 ? x.shape.length + axis : axis;
  const shape: Dim[] = keepDims ? x.shape.with(at, 1) : x.shape.toSpliced(at, 1);
  return graph.add({
    op,
    inputs: [x, graph.integers([axis])],
    attributes: { keepdims: int(keepDims) },
    outputs: [{ type: x.type, shape }],
  })[0];
}

function alongLast(graph: Graph, op: string, x: Value): Value {
  return graph.add({
    op,
    inputs: [x],
    attributes: { axis: int(-1) },
    outputs: [{ type: x.type, shape: x.shape }],
  })[0];
}
