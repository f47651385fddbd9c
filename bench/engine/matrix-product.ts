import type { Graph } from "../../engine/onnx/graph/graph.ts";
import { matMul } from "../../engine/onnx/graph/ops/matmul.ts";

/** `product = a × b` for two square matrices: the most the runtime's arithmetic can do. */
export function matrixProductGraph(graph: Graph, size: number): Graph {
  const a = graph.input("a", "float32", [size, size]);
  const b = graph.input("b", "float32", [size, size]);
  graph.output("product", matMul(graph, a, b));
  return graph;
}
