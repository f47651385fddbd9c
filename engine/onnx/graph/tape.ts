import { sameShape } from "./dim.ts";
import type { Graph } from "./graph.ts";
import { add, addToRows, gemm, matMul, zeros, type MatMulOptions } from "./ops/index.ts";
import type { Value } from "./value.ts";

type Backward = (gradients: Value[]) => void;

interface Entry {
  outputs: readonly Value[];
  backward: Backward;
}

/**
 * Reverse-mode automatic differentiation over a graph. Differentiable operations (`diff/*.ts`) add their
 * forward nodes at once and record how to pass a gradient on; {@link backward} then adds the backward nodes,
 * last operation first.
 *
 * Nothing is recorded for values no gradient is asked of, so the same model code builds inference graphs.
 */
export class Tape {
  readonly graph: Graph;
  readonly #entries: Entry[] = [];
  readonly #required = new Set<string>();
  readonly #gradients = new Map<string, Value>();

  constructor(graph: Graph) {
    this.graph = graph;
  }

  /** Asks for the gradient of a value, usually a weight. */
  require(value: Value): void {
    this.#required.add(value.name);
  }

  requires(...values: Value[]): boolean {
    return values.some((value) => this.#required.has(value.name));
  }

  /** Records an operation; `backward` gets one gradient per output, zeros for outputs nobody used. */
  record(inputs: readonly Value[], outputs: readonly Value[], backward: Backward): void {
    if (!this.requires(...inputs)) return;
    for (const output of outputs) this.#required.add(output.name);
    this.#entries.push({ outputs, backward });
  }

  /** Adds to the gradient of a value. */
  accumulate(value: Value, gradient: Value): void {
    if (!this.requires(value)) return;
    if (!sameShape(value.shape, gradient.shape)) {
      throw new RangeError(`Gradient [${gradient.shape.join()}] of ${value.name} [${value.shape.join()}]`);
    }
    const known = this.#gradients.get(value.name);
    this.#gradients.set(value.name, known === undefined ? gradient : add(this.graph, known, gradient));
  }

  /** Adds `alpha a b` to the gradient of a value; onto an earlier one without an intermediate. */
  accumulateProduct(value: Value, a: Value, b: Value, options: MatMulOptions = {}): void {
    if (!this.requires(value)) return;
    const known = this.#gradients.get(value.name);
    if (known === undefined || value.shape.length !== 2) {
      this.accumulate(value, matMul(this.graph, a, b, options));
      return;
    }
    this.#gradients.set(value.name, gemm(this.graph, a, b, known, options));
  }

  /** Adds `updates` [M, D] to the rows `rows` [M], which may repeat, of the gradient of a table [R, D]. */
  accumulateRows(table: Value, rows: Value, updates: Value): void {
    if (!this.requires(table)) return;
    const onto = this.#gradients.get(table.name) ?? zeros(this.graph, table.shape);
    this.#gradients.set(table.name, addToRows(this.graph, onto, rows, updates));
  }

  /** Adds the backward nodes of all that was recorded since the last call, starting from `seeds`. */
  backward(...seeds: [value: Value, gradient: Value][]): void {
    for (const [value, gradient] of seeds) this.accumulate(value, gradient);
    for (const { outputs, backward } of this.#entries.splice(0).reverse()) {
      if (!outputs.some((output) => this.#gradients.has(output.name))) continue;
      backward(outputs.map((output) => this.#gradients.get(output.name) ?? zeros(this.graph, output.shape)));
    }
  }

  /** The gradient of a required value, once {@link backward} has run. */
  gradient(value: Value): Value | undefined {
    return this.#gradients.get(value.name);
  }
}
