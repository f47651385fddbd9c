import type { Shape } from "./dim.ts";

/** Element types and their number in ONNX's `TensorProto.DataType`. */
export const DATA_TYPE = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9 } as const;
export type DataType = keyof typeof DATA_TYPE;

/** A tensor in a graph: what a node gives and others take. */
export interface Value {
  readonly name: string;
  readonly type: DataType;
  readonly shape: Shape;
}

/** A node's attribute. The kind is declared by the op, never guessed from the number: alpha 1 is a float. */
export type Attribute =
  | { kind: "float"; value: number }
  | { kind: "int"; value: number }
  | { kind: "ints"; value: readonly number[] }
  | { kind: "string"; value: string };

export function float(value: number): Attribute {
  return { kind: "float", value };
}

export function int(value: number | boolean): Attribute {
  return { kind: "int", value: Number(value) };
}

export function ints(value: readonly number[]): Attribute {
  return { kind: "ints", value };
}

export function string(value: string): Attribute {
  return { kind: "string", value };
}
