import { broadcast } from "../dim.ts";
import type { Graph } from "../graph.ts";
import { float, int, DATA_TYPE, type Attribute, type DataType, type Value } from "../value.ts";

export function add(graph: Graph, a: Value, b: Value): Value {
  return binary(graph, "Add", a, b);
}

export function subtract(graph: Graph, a: Value, b: Value): Value {
  return binary(graph, "Sub", a, b);
}

export function multiply(graph: Graph, a: Value, b: Value): Value {
  return binary(graph, "Mul", a, b);
}

export function lessOrEqual(graph: Graph, a: Value, b: Value): Value {
  return binary(graph, "LessOrEqual", a, b, "bool");
}

export function negate(graph: Graph, x: Value): Value {
  return unary(graph, "Neg", x);
}

export function exp(graph: Graph, x: Value): Value {
  return unary(graph, "Exp", x);
}

export function sigmoid(graph: Graph, x: Value): Value {
  return unary(graph, "Sigmoid", x);
}

/** `x * sigmoid(x)` in one kernel, for graphs that need no gradient. */
export function quickGelu(graph: Graph, x: Value): Value {
  return unary(graph, "QuickGelu", x, { alpha: float(1) }, "com.microsoft");
}

/** `low` and `high` are scalars. */
export function clip(graph: Graph, x: Value, low: Value, high: Value): Value {
  return graph.add({ op: "Clip", inputs: [x, low, high], outputs: [{ type: x.type, shape: x.shape }] })[0];
}

export function cast(graph: Graph, x: Value, type: DataType): Value {
  return graph.add({
    op: "Cast",
    inputs: [x],
    attributes: { to: int(DATA_TYPE[type]) },
    outputs: [{ type, shape: x.shape }],
  })[0];
}

function binary(graph: Graph, op: string, a: Value, b: Value, type: DataType = a.type): Value {
  const shape = broadcast(a.shape, b.shape);
  if (shape === undefined || a.type !== b.type) {
    throw new RangeError(`${op} of ${a.type}[${a.shape.join()}] and ${b.type}[${b.shape.join()}]`);
  }
  return graph.add({ op, inputs: [a, b], outputs: [{ type, shape }] })[0];
}

function unary(
  graph: Graph,
  op: string,
  x: Value,
  attributes: Record<string, Attribute> = {},
  domain?: "com.microsoft",
): Value {
  return graph.add({ op, domain, inputs: [x], attributes, outputs: [{ type: x.type, shape: x.shape }] })[0];
}
