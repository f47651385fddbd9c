import { Tensor } from "onnxruntime-node";
import type { Tensors } from "../graph/session.ts";
import type { MicroBatch } from "./micro-batches.ts";

/** Inputs of the training graph that say which tokens are looked at. */
export function microBatchFeeds(part: MicroBatch, temperature: number): Tensors {
  return {
    ids: new Tensor("int64", part.ids, [part.size, part.length]),
    rows: new Tensor("int64", part.rows, [part.rows.length]),
    targets: new Tensor("int64", part.targets, [part.targets.length, 1]),
    inv_temperature: new Tensor("float32", Float32Array.of(1 / temperature), []),
    ...packingFeeds(part),
  };
}

function packingFeeds({ packing, size, length }: MicroBatch): Tensors {
  if (packing === undefined) return {};
  return {
    positions: new Tensor("int64", packing.positions, [size, length]),
    segments: new Tensor("float32", packing.segments, [size, length]),
  };
}

/** One element of a float32 output. */
export function elementOf(outputs: Tensors, name: string, index: number): number {
  const data = outputs[name]?.data;
  const value = data instanceof Float32Array ? data[index] : undefined;
  if (value === undefined) throw new RangeError(`The graph gave no ${name}[${index}]`);
  return value;
}
