import { Graph } from "../graph/graph.ts";
import * as ops from "../graph/ops/index.ts";
import { Tape } from "../graph/tape.ts";
import type { Value } from "../graph/value.ts";
import { declareWeights, type WeightMode } from "./graph-weights.ts";
import { finalNorm, headWeight, llamaBlocks } from "./llama-blocks.ts";
import type { Policy } from "./policy.ts";
import { rotaryTables } from "./rotary-tables.ts";

export interface InferGraphParams {
  base: WeightMode;
  adapter: WeightMode;
  /** Rows of the rotary tables: the longest sequence. */
  maxPositions: number;
}

/** Names of one layer's cache tensors. */
export function cacheNames(layer: number): Record<"pastKey" | "pastValue", string> {
  return { pastKey: `past_key_${layer}`, pastValue: `past_value_${layer}` };
}

/**
 * The graph for prefill and decode, in one, over a cache that the caller keeps. Every output is copied on its
 * way out of the runtime, so what goes out of the cache is the new positions alone.
 *
 * Inputs, B sequences of S new tokens each, a cache of T positions:
 * - `ids` int64 [B, S]: the new tokens. S > 1 with something in the cache needs B = 1.
 * - `seqlens_k` int32 [B]: positions in the cache after this run, less one. Decoding a token at position p:
 *   p. A first prompt of n tokens, right-padded to S: n - 1. Whatever lies behind is ignored.
 * - `total` int32 []: the largest `seqlens_k` + 1; any larger value up to T does as well.
 * - `rows` int64 [R]: the tokens whose successors are wanted, counted through all sequences: b * S + s.
 * - `inv_temperature` float32 [R, 1]: logits are multiplied by it before the softmax.
 * - `new_positions` int64 [B, KV, S, 1]: where each new token stands.
 * - `past_key_l`, `past_value_l` float32 [B, KV, T, hd] for each layer l; read only.
 * - the weights under their own names, where they are shared.
 *
 * Outputs:
 * - `logits` float32 [R, V], without the temperature.
 * - `probs` float32 [R, V]: softmax(logits * inv_temperature).
 * - `new_cache` float32 [2 L B, KV, S, hd]: keys and values of the new positions, to be put into the cache;
 *   layer by layer, keys before values.
 */
export function inferGraph(policy: Policy, params: InferGraphParams): Graph {
  const { config } = policy;
  const { heads, keyValueHeads, headSize } = config;
  const graph = new Graph();
  const tape = new Tape(graph);
  const ids = graph.input("ids", "int64", ["B", "S"]);
  const seqlensK = graph.input("seqlens_k", "int32", ["B"]);
  const total = graph.input("total", "int32", []);
  const wanted = graph.input("rows", "int64", ["R"]);
  const inverseTemperature = graph.input("inv_temperature", "float32", ["R", 1]);
  const newPositions = graph.input("new_positions", "int64", ["B", keyValueHeads, "S", 1]);
  const weights = declareWeights(graph, policy, params);
  const rotary = rotaryTables(graph, config, params.maxPositions);

  const news: Value[] = [];
  const attend = (layer: number, projected: Value[]): Value => {
    const names = cacheNames(layer);
    const cache = ["B", keyValueHeads, "T", headSize];
    const [query, key, value] = projected.map((x) => ops.reshape(graph, x, ["B", "S", Number(x.shape[1])]));
    if (query === undefined) throw new RangeError("Attention has no query");
    const { attended, presentKey, presentValue } = ops.groupQueryAttention(graph, {
      query,
      key,
      value,
      pastKey: graph.input(names.pastKey, "float32", cache),
      pastValue: graph.input(names.pastValue, "float32", cache),
      seqlensK,
      total,
      rotary,
      heads,
      keyValueHeads,
      headSize,
    });
    for (const present of [presentKey, presentValue])
      news.push(ops.gatherPositions(graph, present, newPositions));
    return ops.reshape(graph, attended, ["B*S", heads * headSize]);
  };

  const select = (rows: Value): Value => ops.gather(graph, rows, wanted);
  const x = llamaBlocks(tape, config, weights, ops.reshape(graph, ids, ["B*S"]), { attend, select });
  const hidden = finalNorm(tape, config, weights, x);
  graph.output("new_cache", ops.concat(graph, news, 0, `${news.length}*B`));
  const logits = ops.matMul(graph, hidden, headWeight(config, weights), { transB: true });
  graph.output("logits", logits);
  graph.output("probs", ops.softmax(graph, ops.multiply(graph, logits, inverseTemperature)));
  return graph;
}
