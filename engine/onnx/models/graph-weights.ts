import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/value.ts";
import type { GraphWeights } from "./llama-blocks.ts";
import type { Policy } from "./policy.ts";
import type { ParameterSet } from "./parameter-set.ts";

/**
 * How weights reach a session. `shared`: as inputs, without a copy, so that what training writes is seen at
 * once. `packed`: copied at creation into the layout the matrix kernels like best, 1.5 to 2.5 times faster to
 * decode with at 135M parameters, and fixed from then on.
 */
export type WeightMode = "shared" | "packed";

/** Declares a policy's weights in a graph. */
export function declareWeights(
  graph: Graph,
  policy: Policy,
  modes: { base: WeightMode; adapter: WeightMode },
): GraphWeights {
  const values = new Map<string, Value>();
  declare(graph, values, policy.parameters, modes.base);
  if (policy.adapter !== undefined) declare(graph, values, policy.adapter.parameters, modes.adapter);
  return {
    adapter: policy.adapter,
    get(name) {
      const value = values.get(name);
      if (value === undefined) throw new RangeError(`No weight ${name}`);
      return value;
    },
  };
}

function declare(graph: Graph, values: Map<string, Value>, parameters: ParameterSet, mode: WeightMode): void {
  for (const { name, shape, data } of parameters) {
    const value = mode === "shared" ? graph.input(name, "float32", shape) : graph.weight(name, shape, data);
    values.set(name, value);
  }
}
