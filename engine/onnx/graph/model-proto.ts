import { message, type ProtoWriter } from "./proto.ts";
import { DATA_TYPE, type Attribute, type Value } from "./value.ts";

/** Opset, contrib opset and IR version the ops in `ops/` are written for. */
const OPSET = 18;
const MICROSOFT_OPSET = 1;
const IR_VERSION = 9;

export interface NodeRecord {
  op: string;
  domain: string;
  /** An empty name is an optional input left out. */
  inputs: string[];
  outputs: string[];
  attributes: Record<string, Attribute>;
}

export interface Initializer {
  value: Value;
  data: Uint8Array;
}

export interface GraphRecord {
  nodes: readonly NodeRecord[];
  inputs: readonly Value[];
  outputs: readonly Value[];
  /** Small tensors written into the model itself. */
  constants: readonly Initializer[];
  /** Tensors given to the runtime beside the model, under their own name. */
  external: readonly Initializer[];
}

/** Serialises a graph as ONNX `ModelProto` (field numbers from onnx.proto, IR 9). */
export function encodeModel(graph: GraphRecord): Uint8Array {
  return message((model) => {
    model.integer(1, IR_VERSION);
    model.string(2, "spotter");
    model.message(7, (writer) => writeGraph(writer, graph));
    model.message(8, (opset) => opset.string(1, "").integer(2, OPSET));
    model.message(8, (opset) => opset.string(1, "com.microsoft").integer(2, MICROSOFT_OPSET));
  });
}

function writeGraph(writer: ProtoWriter, graph: GraphRecord): void {
  for (const node of graph.nodes) writer.message(1, (inner) => writeNode(inner, node));
  writer.string(2, "graph");
  for (const { value, data } of graph.constants) {
    writer.message(5, (tensor) => writeTensorHead(tensor, value).bytes(9, data));
  }
  for (const { value, data } of graph.external) {
    writer.message(5, (tensor) => writeExternalTensor(tensor, value, data.byteLength));
  }
  for (const value of graph.inputs) writer.message(11, (info) => writeValueInfo(info, value));
  for (const value of graph.outputs) writer.message(12, (info) => writeValueInfo(info, value));
}

function writeNode(writer: ProtoWriter, node: NodeRecord): void {
  for (const input of node.inputs) writer.string(1, input);
  for (const output of node.outputs) writer.string(2, output);
  writer.string(4, node.op);
  for (const [name, attribute] of Object.entries(node.attributes)) {
    writer.message(5, (inner) => writeAttribute(inner, name, attribute));
  }
  if (node.domain !== "") writer.string(7, node.domain);
}

function writeAttribute(writer: ProtoWriter, name: string, attribute: Attribute): void {
  writer.string(1, name);
  switch (attribute.kind) {
    case "float":
      writer.float(2, attribute.value).integer(20, 1);
      return;
    case "int":
      writer.integer(3, attribute.value).integer(20, 2);
      return;
    case "string":
      writer.string(4, attribute.value).integer(20, 3);
      return;
    case "ints":
      for (const value of attribute.value) writer.integer(8, value);
      writer.integer(20, 7);
      return;
  }
}

function writeTensorHead(writer: ProtoWriter, value: Value): ProtoWriter {
  for (const dim of value.shape) writer.integer(1, Number(dim));
  return writer.integer(2, DATA_TYPE[value.type]).string(8, value.name);
}

function writeExternalTensor(writer: ProtoWriter, value: Value, byteLength: number): void {
  writeTensorHead(writer, value);
  const entries = { location: value.name, offset: "0", length: String(byteLength) };
  for (const [key, text] of Object.entries(entries)) {
    writer.message(13, (entry) => entry.string(1, key).string(2, text));
  }
  writer.integer(14, 1);
}

function writeValueInfo(writer: ProtoWriter, value: Value): void {
  writer.string(1, value.name);
  writer.message(2, (type) =>
    type.message(1, (tensor) => {
      tensor.integer(1, DATA_TYPE[value.type]);
      tensor.message(2, (shape) => {
        for (const dim of value.shape) {
          shape.message(1, (inner) =>
            typeof dim === "number" ? inner.integer(1, dim) : inner.string(2, dim),
          );
        }
      });
    }),
  );
}
