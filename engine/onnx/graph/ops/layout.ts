import { product, type Dim, type Shape } from "../dim.ts";
import type { Graph } from "../graph.ts";
import { int, ints, type Value } from "../value.ts";

/**
 * Reshapes to a symbolic shape. Sizes that stay in place or follow from the others cost nothing; only what
 * is left is computed from the inputs' shapes at run time.
 */
export function reshape(graph: Graph, x: Value, shape: Shape): Value {
  if (product(x.shape) !== product(shape)) {
    throw new RangeError(`[${x.shape.join()}] has not as many elements as [${shape.join()}]`);
  }
  return graph.add({
    op: "Reshape",
    inputs: [x, reshapeTarget(graph, x, shape)],
    outputs: [{ type: x.type, shape }],
  })[0];
}

export function transpose(graph: Graph, x: Value, order: readonly number[]): Value {
  return graph.add({
    op: "Transpose",
    inputs: [x],
    attributes: { perm: ints(order) },
    outputs: [{ type: x.type, shape: order.map((axis) => dimension(x, axis)) }],
  })[0];
}

/** Cuts the last axis. */
export function split(graph: Graph, x: Value, sizes: readonly number[]): Value[] {
  if (product([dimension(x, -1)]) !== sizes.reduce((a, b) => a + b, 0)) {
    throw new RangeError(`Parts of ${sizes.join()} do not make up [${x.shape.join()}]`);
  }
  return graph.add({
    op: "Split",
    inputs: [x, graph.integers(sizes)],
    attributes: { axis: int(-1) },
    outputs: sizes.map((size) => ({ type: x.type, shape: [...x.shape.slice(0, -1), size] })),
  });
}

/** Joins along an axis whose joined size the caller names, since symbolic sizes do not add up. */
export function concat(graph: Graph, parts: readonly Value[], axis: number, size: Dim): Value {
  const [first] = parts;
  if (first === undefined) throw new RangeError("Nothing to join");
  const at = axis < 0 ? first.shape.length + axis : axis;
  return graph.add({
    op: "Concat",
    inputs: parts,
    attributes: { axis: int(axis) },
    outputs: [{ type: first.type, shape: first.shape.with(at, size) }],
  })[0];
}

/** Inserts an axis of size 1. */
export function unsqueeze(graph: Graph, x: Value, axis: number): Value {
  return graph.add({
    op: "Unsqueeze",
    inputs: [x, graph.integers([axis])],
    outputs: [{ type: x.type, shape: x.shape.toSpliced(axis, 0, 1) }],
  })[0];
}

export function expand(graph: Graph, x: Value, shape: Shape): Value {
  return graph.add({
    op: "Expand",
    inputs: [x, graph.shapeVector(shape)],
    outputs: [{ type: x.type, shape }],
  })[0];
}

/** Zeros of a shape; unlike `0 * x` they are zero where x is NaN. */
export function zeros(graph: Graph, shape: Shape): Value {
  return graph.add({
    op: "ConstantOfShape",
    inputs: [graph.shapeVector(shape)],
    outputs: [{ type: "float32", shape }],
  })[0];
}

/** `[size, size]` with 0 on and below the diagonal and a large negative number above it. */
export function causalMask(graph: Graph, size: Dim): Value {
  // -1e9 and not -Infinity: a fully masked row must not become NaN, and exp(-1e9) is 0 all the same.
  const filled = expand(graph, graph.constant(Float32Array.of(-1e9), [1]), [size, size]);
  return graph.add({
    op: "Trilu",
    inputs: [filled, graph.constant(BigInt64Array.of(1n), [])],
    attributes: { upper: int(1) },
    outputs: [{ type: "float32", shape: [size, size] }],
  })[0];
}

function dimension(x: Value, axis: number): Dim {
  const dim = x.shape.at(axis);
  if (dim === undefined) throw new RangeError(`[${x.shape.join()}] has no axis ${axis}`);
  return dim;
}

/** Reshape's own shorthand: 0 keeps the size at this place, one -1 is worked out by the runtime. */
function reshapeTarget(graph: Graph, x: Value, shape: Shape): Value {
  const target = shape.map((dim, axis) => (typeof dim === "number" ? dim : x.shape[axis] === dim ? 0 : -1));
  if (target.filter((dim) => dim === -1).length <= 1) return graph.integers(target);
  return graph.shapeVector(shape);
}
