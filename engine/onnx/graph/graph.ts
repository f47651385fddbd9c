import { namesOf, product, type Dim, type Shape } from "./dim.ts";
import { encodeModel, type Initializer, type NodeRecord } from "./model-proto.ts";
import type { Attribute, DataType, Value } from "./value.ts";

export interface NodeOutput {
  type: DataType;
  shape: Shape;
}

export interface NodeParams<Outputs extends readonly NodeOutput[]> {
  op: string;
  /** Default: the ONNX domain. */
  domain?: "com.microsoft";
  /** undefined leaves an optional input out. */
  inputs: readonly (Value | undefined)[];
  attributes?: Record<string, Attribute>;
  /** What comes out; the op works this out from its inputs. */
  outputs: Outputs;
}

type ConstantData = Float32Array | BigInt64Array | Int32Array;

/**
 * A graph under construction. Ops (`ops/*.ts`) add nodes and work out types and shapes; the graph keeps the
 * records, names values, and knows how to compute any symbolic dimension at run time from its inputs.
 */
export class Graph {
  readonly #nodes: NodeRecord[] = [];
  readonly #inputs: Value[] = [];
  readonly #outputs: Value[] = [];
  readonly #constants: Initializer[] = [];
  readonly #external: Initializer[] = [];
  readonly #names = new Set<string>();
  readonly #cache = new Map<string, Value>();
  readonly #renamed = new Map<string, string>();
  #counter = 0;

  get inputs(): readonly Value[] {
    return this.#inputs;
  }

  get outputs(): readonly Value[] {
    return this.#outputs;
  }

  /** Tensors to hand to the runtime beside the model. */
  get external(): readonly Initializer[] {
    return this.#external;
  }

  input(name: string, type: DataType, shape: Shape): Value {
    const value = this.#value(name, type, shape);
    this.#inputs.push(value);
    return value;
  }

  /** Makes a value an output of the graph under a name of its own. */
  output(name: string, value: Value): void {
    this.#outputs.push(this.#value(name, value.type, value.shape));
    if (this.#inputs.includes(value) || this.#renamed.has(value.name)) {
      this.#nodes.push({ op: "Identity", domain: "", inputs: [value.name], outputs: [name], attributes: {} });
      return;
    }
    this.#renamed.set(value.name, name);
  }

  /** A weight fixed at session creation, shared with the runtime without a copy in the model file. */
  weight(name: string, shape: readonly number[], data: Float32Array): Value {
    const value = this.#value(name, "float32", shape);
    this.#external.push({ value, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) });
    return value;
  }

  /** A constant; equal small ones are shared. */
  constant(data: ConstantData, shape: readonly number[]): Value {
    if (product(shape) !== data.length)
      throw new RangeError(`${data.length} elements do not fill [${shape.join()}]`);
    const type = data instanceof Float32Array ? "float32" : data instanceof Int32Array ? "int32" : "int64";
    const create = (): Value => {
      const value = this.#value(this.#fresh("constant"), type, shape);
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
      this.#constants.push({ value, data: bytes.slice() });
      return value;
    };
    return data.length > 64
      ? create()
      : this.cached(`constant ${type} [${shape.join()}] ${data.join()}`, create);
  }

  scalar(value: number): Value {
    return this.constant(Float32Array.of(value), []);
  }

  /** A one-dimensional int64 constant, as axes, shapes and sizes want it. */
  integers(values: readonly number[]): Value {
    return this.constant(BigInt64Array.from(values, BigInt), [values.length]);
  }

  /** Makes a value once per key. */
  cached(key: string, create: () => Value): Value {
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const made = create();
    this.#cache.set(key, made);
    return made;
  }

  /** A shape as an int64 vector; symbolic sizes are read off the graph's inputs at run time. */
  shapeVector(shape: Shape): Value {
    if (shape.every((dim) => typeof dim === "number")) return this.integers(shape);
    return this.cached(`shape [${shape.join()}]`, () => {
      const parts = shape.map((dim) => this.#size(dim));
      if (parts.length === 1) return parts[0] as Value;
      const [result] = this.add({
        op: "Concat",
        inputs: parts,
        attributes: { axis: { kind: "int", value: 0 } },
        outputs: [{ type: "int64", shape: [shape.length] }],
      });
      return result;
    });
  }

  /** Adds a node and returns its outputs. */
  add<const Outputs extends readonly NodeOutput[]>(
    params: NodeParams<Outputs>,
  ): { -readonly [Index in keyof Outputs]: Value } {
    const outputs = params.outputs.map(({ type, shape }) => this.#value(this.#fresh(params.op), type, shape));
    this.#nodes.push({
      op: params.op,
      domain: params.domain ?? "",
      inputs: params.inputs.map((input) => input?.name ?? ""),
      outputs: outputs.map((output) => output.name),
      attributes: params.attributes ?? {},
    });
    return outputs as { -readonly [Index in keyof Outputs]: Value };
  }

  /** The ONNX model, without external weights. */
  encode(): Uint8Array {
    const rename = (name: string): string => this.#renamed.get(name) ?? name;
    return encodeModel({
      nodes: this.#nodes.map((node) => ({
        ...node,
        inputs: node.inputs.map(rename),
        outputs: node.outputs.map(rename),
      })),
      inputs: this.#inputs,
      outputs: this.#outputs,
      constants: this.#constants,
      external: this.#external,
    });
  }

  /** One dimension as an int64 vector of length 1. */
  #size(dim: Dim): Value {
    if (typeof dim === "number") return this.integers([dim]);
    return this.cached(`size ${dim}`, () => {
      const names = namesOf(dim);
      const [only] = names;
      if (only === dim) return this.#inputSize(only);
      const factors = names.map((name) => this.#inputSize(name));
      const number = dim.split("*")[0] ?? "";
      if (!Number.isNaN(Number(number))) factors.push(this.integers([Number(number)]));
      return factors.reduce((left, right) => {
        const [result] = this.add({
          op: "Mul",
          inputs: [left, right],
          outputs: [{ type: "int64", shape: [1] }],
        });
        return result;
      });
    });
  }

  #inputSize(name: string): Value {
    return this.cached(`size ${name}`, () => {
      for (const input of this.#inputs) {
        const axis = input.shape.indexOf(name);
        if (axis < 0) continue;
        const [result] = this.add({
          op: "Shape",
          inputs: [input],
          attributes: { start: { kind: "int", value: axis }, end: { kind: "int", value: axis + 1 } },
          outputs: [{ type: "int64", shape: [1] }],
        });
        return result;
      }
      throw new RangeError(`No input of the graph has a dimension ${name}`);
    });
  }

  #fresh(op: string): string {
    return `${op}_${this.#counter++}`;
  }

  #value(name: string, type: DataType, shape: Shape): Value {
    if (this.#names.has(name)) throw new RangeError(`Two values of the graph are named ${name}`);
    this.#names.add(name);
    return { name, type, shape };
  }
}
