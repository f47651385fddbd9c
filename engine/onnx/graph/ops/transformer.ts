import type { Graph } from "../graph.ts";
import { float, int, type Value } from "../value.ts";

/** RMS norm of the rows of `x` [..., D]; also gives 1/rms [..., 1], which its gradient needs. */
export function rmsNorm(
  graph: Graph,
  x: Value,
  weight: Value,
  epsilon: number,
): { y: Value; inverse: Value } {
  const [y, inverse] = graph.add({
    op: "SimplifiedLayerNormalization",
    inputs: [x, weight],
    attributes: { axis: int(-1), epsilon: float(epsilon), stash_type: int(1) },
    outputs: [
      { type: "float32", shape: x.shape },
      { type: "float32", shape: [...x.shape.slice(0, -1), 1] },
    ],
  });
  return { y, inverse };
}

export interface RotaryTables {
  /** Cosines and sines per position and pair, [P, hd/2]. */
  cos: Value;
  sin: Value;
  /** Rows in the tables. */
  positions: number;
  /** int64 [B, S]: the row of each token, where that is not its place in the sequence. */
  rows?: Value;
}

/** Rotates the two halves of every head of `x` [B, heads, S, hd], positions counting from 0 or as the tables say. */
export function rotaryEmbedding(graph: Graph, x: Value, tables: RotaryTables): Value {
  const start = tables.rows ?? graph.constant(BigInt64Array.of(0n), [1]);
  return graph.add({
    op: "RotaryEmbedding",
    domain: "com.microsoft",
    inputs: [x, start, tables.cos, tables.sin],
    attributes: { interleaved: int(0) },
    outputs: [{ type: "float32", shape: x.shape }],
  })[0];
}

export interface GroupQueryAttentionParams {
  /** [B, S, (H + 2 KV) hd], or the query alone when key and value are given. */
  query: Value;
  key: Value | undefined;
  value: Value | undefined;
  /** [B, KV, T, hd]: the cache, read up to `seqlensK`; what comes out has the new positions as well. */
  pastKey: Value;
  pastValue: Value;
  /** int32 [B]: positions in the cache after this run, less one. */
  seqlensK: Value;
  /** int32 []: the largest number of positions after this run. */
  total: Value;
  rotary: RotaryTables;
  heads: number;
  keyValueHeads: number;
  headSize: number;
}

/** Rotary embedding, extended cache and causal attention in one kernel. */
export function groupQueryAttention(
  graph: Graph,
  params: GroupQueryAttentionParams,
): { attended: Value; presentKey: Value; presentValue: Value } {
  const { query, pastKey, pastValue, rotary } = params;
  const [attended, presentKey, presentValue] = graph.add({
    op: "GroupQueryAttention",
    domain: "com.microsoft",
    inputs: [
      query,
      params.key,
      params.value,
      pastKey,
      pastValue,
      params.seqlensK,
      params.total,
      rotary.cos,
      rotary.sin,
    ],
    attributes: {
      num_heads: int(params.heads),
      kv_num_heads: int(params.keyValueHeads),
      do_rotary: int(1),
      rotary_interleaved: int(0),
      scale: float(1 / Math.sqrt(params.headSize)),
    },
    outputs: [
      { type: "float32", shape: query.shape.with(-1, params.heads * params.headSize) },
      { type: "float32", shape: pastKey.shape },
      { type: "float32", shape: pastValue.shape },
    ],
  });
  return { attended, presentKey, presentValue };
}
