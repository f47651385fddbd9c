import { Tensor } from "onnxruntime-node";
import type { NamedTensor } from "../weights/safetensors.ts";
import type { ParameterSpec } from "./llama-parameters.ts";

/** A tensor in memory; `tensor` wraps `data` without a copy, so writing into `data` changes the next run. */
export interface Parameter extends ParameterSpec {
  readonly data: Float32Array;
  readonly tensor: Tensor;
}

/** Tensors by name, each with its parts as they are named on disk. */
export class ParameterSet {
  readonly #parameters: ReadonlyMap<string, Parameter>;

  constructor(specs: readonly ParameterSpec[]) {
    this.#parameters = new Map(specs.map((spec) => [spec.name, allocate(spec)]));
  }

  [Symbol.iterator](): Iterator<Parameter> {
    return this.#parameters.values();
  }

  get(name: string): Parameter {
    const parameter = this.#parameters.get(name);
    if (parameter === undefined) throw new RangeError(`No parameter ${name}`);
    return parameter;
  }

  has(name: string): boolean {
    return this.#parameters.has(name);
  }

  get elements(): number {
    return [...this].reduce((sum, { data }) => sum + data.length, 0);
  }

  /** Tensors by name, as a session is fed. */
  feeds(): Record<string, Tensor> {
    return Object.fromEntries([...this].map(({ name, tensor }) => [name, tensor]));
  }

  /** A copy with memory of its own. */
  clone(): ParameterSet {
    const copy = new ParameterSet([...this]);
    for (const { name, data } of this) copy.get(name).data.set(data);
    return copy;
  }

  /** The tensors as they are on disk: views into the stacked ones. */
  diskTensors(): NamedTensor[] {
    return [...this].flatMap(diskTensors);
  }
}

function allocate(spec: ParameterSpec): Parameter {
  const data = new Float32Array(spec.shape.reduce((a, b) => a * b, 1));
  return { ...spec, data, tensor: new Tensor("float32", data, spec.shape) };
}

function diskTensors({ shape, parts, data }: Parameter): NamedTensor[] {
  const width = shape.slice(1).reduce((a, b) => a * b, 1);
  let row = 0;
  return parts.map(({ name, rows }) => {
    const view = data.subarray(row * width, (row + rows) * width);
    row += rows;
    return { name, shape: [rows, ...shape.slice(1)], data: view };
  });
}
