import * as diff from "../graph/diff/index.ts";
import { Graph } from "../graph/graph.ts";
import * as ops from "../graph/ops/index.ts";
import { Tape } from "../graph/tape.ts";
import type { Value } from "../graph/value.ts";
import { declareWeights } from "./graph-weights.ts";
import { finalNorm, headWeight, llamaBlocks, parts } from "./llama-blocks.ts";
import { coefficient, objectiveInputs, PLAIN, type ObjectiveShape } from "./objective.ts";
import type { ParameterSet } from "./parameter-set.ts";
import type { Policy } from "./policy.ts";
import { rotaryTables } from "./rotary-tables.ts";

export interface TrainGraphParams {
  /** Rows of the rotary tables: the longest sequence. */
  maxPositions: number;
  /** What to train; absent: a graph that only scores. */
  trainable?: ParameterSet;
  /** Terms of what is trained on. Default: {@link PLAIN}. */
  objective?: ObjectiveShape;
  /** Give the last hidden states [M, D] of the selected rows, `also` or `only`: then no token is scored. */
  hidden?: "also" | "only";
  /** Rows hold several sequences each, which do not see each other. Default: false. */
  packed?: boolean;
  /** Also give the logits of the selected rows. Default: false. */
  logits?: boolean;
}

/** Output that carries the gradient of a parameter. */
export function gradientName(parameter: string): string {
  return `${parameter}.gradient`;
}

/**
 * The graph of one forward and backward pass.
 *
 * Inputs, B right-padded sequences of S tokens with M tokens to score or learn among them:
 * - `ids` int64 [B, S], without each sequence's last token, which predicts nothing.
 * - `rows` int64 [M]: the flattened positions b*S + s that predict a token of interest, each once.
 * - `targets` int64 [M, 1]: the tokens that came there.
 * - `inv_temperature` float32 []: logits are multiplied by it.
 * - with `packed`, `positions` int64 [B, S]: where in its own sequence each token is; `segments` float32 [B, S]:
 *   which sequence of the row that is.
 * - with `trainable`, the inputs of {@link objectiveInputs}.
 * - all weights under their own names.
 *
 * Outputs: `logprob` and `entropy` [M, 1]; `logits` [M, V] and `hidden` [M, D] on request; per trainable parameter its gradient
 * under {@link gradientName}.
 */
export function trainGraph(policy: Policy, params: TrainGraphParams): Graph {
  const { config } = policy;
  const graph = new Graph();
  const tape = new Tape(graph);
  const ids = graph.input("ids", "int64", ["B", "S"]);
  const rows = graph.input("rows", "int64", ["M"]);
  const targets = graph.input("targets", "int64", ["M", 1]);
  const inverseTemperature = graph.input("inv_temperature", "float32", []);
  const weights = declareWeights(graph, policy, { base: "shared", adapter: "shared" });
  for (const { name } of params.trainable ?? []) tape.require(weights.get(name));

  const x = llamaBlocks(tape, config, weights, ops.reshape(graph, ids, ["B*S"]), {
    attend: causalAttention(tape, policy, params),
    select: (values) => diff.selectRows(tape, values, rows),
  });
  const hidden = finalNorm(tape, config, weights, x);
  if (params.hidden !== undefined) graph.output("hidden", hidden);
  if (params.hidden === "only") return graph;
  const head = headWeight(config, weights);
  const likelihood = diff.logLikelihood(tape, { hidden, head, targets, inverseTemperature });
  graph.output("logprob", likelihood.logprob);
  graph.output("entropy", likelihood.entropy);
  if (params.logits === true) {
    graph.output("logits", ops.matMul(graph, hidden, head, { transB: true }));
  }
  if (params.trainable === undefined) return graph;

  const objective = objectiveInputs(graph, params.objective ?? PLAIN);
  likelihood.seed(coefficient(graph, likelihood.logprob, objective));
  if (objective.entropyWeight !== undefined) likelihood.seedEntropy(objective.entropyWeight);
  tape.backward();
  for (const { name, shape } of params.trainable) {
    const gradient = tape.gradient(weights.get(name)) ?? ops.zeros(graph, shape);
    graph.output(gradientName(name), gradient);
  }
  return graph;
}

/** [B, 1, S, S]: far below 0 where query and key are of different sequences, 0 where they are of one. */
function segmentMask(graph: Graph): Value {
  const segments = graph.input("segments", "float32", ["B", "S"]);
  const queries = ops.unsqueeze(graph, ops.unsqueeze(graph, segments, 1), 3);
  const keys = ops.unsqueeze(graph, ops.unsqueeze(graph, segments, 1), 2);
  const apart = ops.subtract(graph, queries, keys);
  return ops.multiply(graph, ops.multiply(graph, apart, apart), graph.scalar(-1e9));
}

/** Attention over whole sequences, with gradients; the counterpart of the cached kernel of decoding. */
function causalAttention(tape: Tape, policy: Policy, { maxPositions, packed = false }: TrainGraphParams) {
  const { graph } = tape;
  const { heads, keyValueHeads, headSize } = policy.config;
  const group = heads / keyValueHeads;
  const tables = {
    ...rotaryTables(graph, policy.config, maxPositions),
    ...(packed ? { rows: graph.input("positions", "int64", ["B", "S"]) } : {}),
  };
  const causal = ops.causalMask(graph, "S");
  const single = packed ? ops.add(graph, causal, segmentMask(graph)) : causal;
  const mask =
    group === 1
      ? single
      : ops.concat(
          graph,
          Array.from({ length: group }, () => single),
          packed ? 2 : 0,
          `${group}*S`,
        );

  return (_layer: number, projected: Value[]): Value => {
    const [query, key, value] = parts(tape, policy.config, "qkv", projected);
    if (query === undefined || key === undefined || value === undefined) {
      throw new RangeError("Attention needs query, key and value");
    }
    const byHead = (x: Value, count: number): Value =>
      diff.transpose(tape, diff.reshape(tape, x, ["B", "S", count, headSize]), [0, 2, 1, 3]);
    const q = diff.rotary(tape, byHead(query, heads), tables);
    const k = diff.rotary(tape, byHead(key, keyValueHeads), tables);
    const v = byHead(value, keyValueHeads);
    const rows = group === 1 ? "S" : `${group}*S`;
    const grouped = diff.reshape(tape, q, ["B", keyValueHeads, rows, headSize]);
    const attended = diff.attention(tape, grouped, k, v, mask);
    const perHead = diff.reshape(tape, attended, ["B", heads, "S", headSize]);
    return diff.reshape(tape, diff.transpose(tape, perHead, [0, 2, 1, 3]), ["B*S", heads * headSize]);
  };
}
