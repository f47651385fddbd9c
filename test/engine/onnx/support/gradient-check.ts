import { Tensor } from "onnxruntime-node";
import { expect } from "vitest";
import type { Shape } from "../../../../engine/onnx/graph/dim.ts";
import { Graph } from "../../../../engine/onnx/graph/graph.ts";
import { multiply } from "../../../../engine/onnx/graph/ops/index.ts";
import { GraphSession, type Tensors } from "../../../../engine/onnx/graph/session.ts";
import { Tape } from "../../../../engine/onnx/graph/tape.ts";
import type { Value } from "../../../../engine/onnx/graph/value.ts";

/** A float32 input of the operation under check; symbolic sizes are given by `sizes`. */
export interface CheckedInput {
  shape: Shape;
  /** Default: numbers between -1 and 1. */
  data?: Float32Array;
}

/** Deterministic numbers between -1 and 1 without a pattern. */
export function numbers(length: number, salt: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => {
    const x = Math.sin((i + 1) * 12.9898 + salt * 78.233) * 43758.5453;
    return 2 * (x - Math.floor(x)) - 1;
  });
}

/** A named value of a graph under construction. */
export function value(values: Record<string, Value>, name: string): Value {
  const found = values[name];
  if (found === undefined) throw new Error(`No value ${name}`);
  return found;
}

/**
 * Compares the gradients an operation passes back with finite differences: for the scalar
 * `sum(output * weights)` with fixed pseudo-random weights, along two directions per input, to 5e-3 of the
 * gradient's norm. `build` may give several outputs; they are weighted alike.
 */
export async function checkGradient(
  sizes: Record<string, number>,
  inputs: Record<string, CheckedInput>,
  build: (tape: Tape, values: Record<string, Value>) => Value | Value[],
  fixed: Record<string, { type: "int64" | "float32"; shape: Shape; data: number[] }> = {},
): Promise<void> {
  const graph = new Graph();
  const tape = new Tape(graph);
  const values: Record<string, Value> = {};
  const feeds: Tensors = {};
  const resolve = (shape: Shape): number[] => shape.map((dim) => sizeOf(dim, sizes));
  for (const [salt, [name, { shape, data }]] of Object.entries(inputs).entries()) {
    const dims = resolve(shape);
    const elements = dims.reduce((a, b) => a * b, 1);
    feeds[name] = new Tensor("float32", data ?? numbers(elements, salt), dims);
    const value = graph.input(name, "float32", shape);
    tape.require(value);
    values[name] = value;
  }
  for (const [name, { type, shape, data }] of Object.entries(fixed)) {
    const array = type === "int64" ? BigInt64Array.from(data, BigInt) : Float32Array.from(data);
    feeds[name] = new Tensor(type, array, resolve(shape));
    values[name] = graph.input(name, type, shape);
  }
  const built = build(tape, values);
  const outputs = Array.isArray(built) ? built : [built];
  const weights: Float32Array[] = [];
  const seeds = outputs.map((output, index): [Value, Value] => {
    const dims = resolve(output.shape);
    const data = numbers(
      dims.reduce((a, b) => a * b, 1),
      50 + index,
    );
    weights.push(data);
    feeds[`seed_${index}`] = new Tensor("float32", data, dims);
    const seed = graph.input(`seed_${index}`, "float32", output.shape);
    // Multiplied by one, so that the seed is a node's output as in a real backward pass.
    return [output, multiply(graph, seed, graph.scalar(1))];
  });
  tape.backward(...seeds);
  const gradientNames: Record<string, null> = {};
  const outputNames: Record<string, null> = {};
  for (const name of Object.keys(inputs)) {
    const value = values[name];
    const gradient = value && tape.gradient(value);
    if (gradient === undefined) throw new Error(`No gradient of ${name}`);
    graph.output(`gradient_${name}`, gradient);
    gradientNames[`gradient_${name}`] = null;
  }
  for (const [index, output] of outputs.entries()) {
    graph.output(`output_${index}`, output);
    outputNames[`output_${index}`] = null;
  }
  const session = await GraphSession.create(graph, { threads: 1 });
  try {
    const loss = async (): Promise<number> => {
      const results = await session.run(feeds, { ...outputNames });
      return weights.reduce((sum, data, index) => sum + dot(floats(results, `output_${index}`), data), 0);
    };
    const gradients = await session.run(feeds, { ...gradientNames });
    for (const name of Object.keys(inputs)) {
      const gradient = floats(gradients, `gradient_${name}`).slice();
      await compare(name, floats(feeds, name), gradient, loss);
    }
  } finally {
    await session.close();
  }
}

async function compare(
  name: string,
  data: Float32Array,
  gradient: Float32Array,
  loss: () => Promise<number>,
): Promise<void> {
  const start = data.slice();
  const h = 4e-3;
  for (const salt of [100, 200]) {
    const direction = numbers(data.length, salt);
    const at = async (step: number): Promise<number> => {
      for (let i = 0; i < data.length; i++) data[i] = (start[i] ?? 0) + step * (direction[i] ?? 0);
      return loss();
    };
    const near = (await at(h)) - (await at(-h));
    const far = (await at(2 * h)) - (await at(-2 * h));
    data.set(start);
    const difference = (8 * near - far) / (12 * h);
    const norm = Math.hypot(...gradient);
    expect(norm, `gradient of ${name} is not all zero`).toBeGreaterThan(1e-3);
    expect(Math.abs(difference - dot(gradient, direction)) / norm, `gradient of ${name}`).toBeLessThan(5e-3);
  }
}

function floats(tensors: Tensors, name: string): Float32Array {
  const data = tensors[name]?.data;
  if (!(data instanceof Float32Array)) throw new Error(`${name} is no float32 tensor`);
  return data;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? NaN), 0);
}

function sizeOf(dim: number | string, sizes: Record<string, number>): number {
  if (typeof dim === "number") return dim;
  return dim
    .split("*")
    .map((part) => sizes[part] ?? Number(part))
    .reduce((a, b) => a * b, 1);
}
