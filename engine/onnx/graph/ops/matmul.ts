import { broadcast, sameShape, type Dim } from "../dim.ts";
import type { Graph } from "../graph.ts";
import { float, int, type Value } from "../value.ts";

export interface MatMulOptions {
  /** Transpose the last two axes of `a`. Default: false. */
  transA?: boolean;
  /** Transpose the last two axes of `b`. Default: false. */
  transB?: boolean;
  /** Factor on the product. Default: 1. */
  alpha?: number;
}

/** `alpha * a b` over the last two axes, the others broadcast. */
export function matMul(graph: Graph, a: Value, b: Value, options: MatMulOptions = {}): Value {
  const { transA = false, transB = false, alpha = 1 } = options;
  return graph.add({
    op: "FusedMatMul",
    domain: "com.microsoft",
    inputs: [a, b],
    attributes: { transA: int(transA), transB: int(transB), alpha: float(alpha) },
    outputs: [{ type: a.type, shape: productShape(a, b, transA, transB) }],
  })[0];
}

/** `alpha * a b + c` of matrices, `c` perhaps one row for all, in one kernel: what accumulates costs no pass of its own. */
export function gemm(graph: Graph, a: Value, b: Value, c: Value, options: MatMulOptions = {}): Value {
  const { transA = false, transB = false, alpha = 1 } = options;
  const shape = productShape(a, b, transA, transB);
  const fits = sameShape(shape, c.shape) || sameShape(shape.slice(1), c.shape);
  if (shape.length !== 2 || !fits) {
    throw new RangeError(`Gemm gives [${shape.join()}], and is to be added to [${c.shape.join()}]`);
  }
  return graph.add({
    op: "Gemm",
    inputs: [a, b, c],
    attributes: { transA: int(transA), transB: int(transB), alpha: float(alpha), beta: float(1) },
    outputs: [{ type: a.type, shape }],
  })[0];
}

function productShape(a: Value, b: Value, transA: boolean, transB: boolean): Dim[] {
  const [rows, inner] = lastTwo(a, transA);
  const [innerB, columns] = lastTwo(b, transB);
  const batch = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2));
  if (inner !== innerB || batch === undefined) {
    throw new RangeError(
      `No matrix product of ${a.name} [${a.shape.join()}] and ${b.name} [${b.shape.join()}]`,
    );
  }
  return [...batch, rows, columns];
}

function lastTwo(value: Value, transposed: boolean): [Dim, Dim] {
  const [rows, columns] = value.shape.slice(-2);
  if (rows === undefined || columns === undefined) {
    throw new RangeError(`${value.name} [${value.shape.join()}] is no matrix`);
  }
  return transposed ? [columns, rows] : [rows, columns];
}
