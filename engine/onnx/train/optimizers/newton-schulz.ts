import { Tensor } from "onnxruntime-node";
import { Graph } from "../../graph/graph.ts";
import * as ops from "../../graph/ops/index.ts";
import { GraphSession, type SessionParams } from "../../graph/session.ts";
import type { Value } from "../../graph/value.ts";

/**
 * Coefficients of the five iterations `X <- a X + (b A + c A²) X` with `A = X Xᵀ`, tuned one by one so that all
 * singular values end near 1 (https://leloykun.github.io/ponder/muon-opt-coeffs/).
 */
const COEFFICIENTS = [
  [4.0848, -6.8946, 2.927],
  [3.9505, -6.3029, 2.6377],
  [3.7418, -5.5913, 2.3037],
  [2.8769, -3.1427, 1.2046],
  [2.8366, -3.0525, 1.2012],
] as const;

/** Keeps a matrix of zeros from a division by 0. */
const EPSILON = 1e-8;

/**
 * The nearest (semi-)orthogonal matrix, about: `U Vᵀ` of the singular value decomposition `U S Vᵀ`, by a
 * Newton-Schulz iteration (https://kellerjordan.github.io/posts/muon/), in float32.
 */
export class NewtonSchulz {
  readonly #params: SessionParams;
  readonly #sessions = new Map<boolean, Promise<GraphSession>>();

  constructor(params: SessionParams) {
    this.#params = params;
  }

  /** @param matrix [rows, columns], row by row, and left as it is */
  async orthogonal(matrix: Float32Array, rows: number, columns: number): Promise<Float32Array> {
    let squares = 0;
    for (let i = 0; i < matrix.length; i++) squares += (matrix[i] as number) ** 2;
    const session = await this.#session(rows > columns);
    const feeds = {
      x: new Tensor("float32", matrix, [rows, columns]),
      inverse_norm: new Tensor("float32", Float32Array.of(1 / (Math.sqrt(squares) + EPSILON)), []),
    };
    const { y } = await session.run(feeds, { y: null });
    if (y?.data instanceof Float32Array) return y.data;
    throw new RangeError("The iteration gave no matrix");
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).close();
  }

  /** `A` is on the shorter side of a matrix: there is a graph for tall ones and one for the others. */
  #session(isTall: boolean): Promise<GraphSession> {
    const known = this.#sessions.get(isTall);
    if (known !== undefined) return known;
    const made = GraphSession.create(iterations(isTall), this.#params);
    this.#sessions.set(isTall, made);
    return made;
  }
}

function iterations(isTall: boolean): Graph {
  const graph = new Graph();
  const given = graph.input("x", "float32", ["R", "C"]);
  const times = (value: Value, factor: number): Value => ops.multiply(graph, value, graph.scalar(factor));
  let x = ops.multiply(graph, given, graph.input("inverse_norm", "float32", []));
  for (const [a, b, c] of COEFFICIENTS) {
    const inner = ops.matMul(graph, x, x, isTall ? { transA: true } : { transB: true });
    const polynomial = ops.gemm(graph, inner, inner, times(inner, b), { alpha: c });
    const [left, right] = isTall ? [x, polynomial] : [polynomial, x];
    x = ops.gemm(graph, left, right, times(x, a));
  }
  graph.output("y", x);
  return graph;
}
