import * as diff from "../graph/diff/index.ts";
import { product } from "../graph/dim.ts";
import type { Tape } from "../graph/tape.ts";
import type { Value } from "../graph/value.ts";
import { FAMILIES } from "./families.ts";
import type { LlamaConfig } from "./llama-config.ts";
import {
  EMBEDDING,
  FINAL_NORM,
  HEAD,
  PROJECTION_GROUPS,
  biasName,
  groupName,
  headNormName,
  layerName,
  projectionRows,
  type HeadNorm,
  type ProjectionGroup,
} from "./llama-parameters.ts";
import { loraAName, loraBName } from "./lora.ts";
import type { LoraAdapter } from "./lora.ts";

/** The weights of a graph, by the names of `llamaParameters` and of the adapter. */
export interface GraphWeights {
  get(name: string): Value;
  adapter: LoraAdapter | undefined;
}

/**
 * Attention of one layer.
 *
 * @param projected [N, (H + 2 KV) hd] in one, or query, key and value
 * @returns [N, H hd]
 */
export type Attend = (layer: number, projected: Value[]) => Value;

/** Where training and decoding differ. */
export interface BlockHooks {
  attend: Attend;
  /**
   * Picks, from [N, ...], the rows whose next token is of interest. Behind the last attention no row depends
   * on another, so the rest of the last block is done for these alone.
   */
  select: (rows: Value) => Value;
}

/**
 * The blocks of a Llama, or of a family that grew from it, over flattened rows.
 *
 * @param ids int64 [N]
 * @returns the selected rows of [N, D], before the final norm
 */
export function llamaBlocks(
  tape: Tape,
  config: LlamaConfig,
  weights: GraphWeights,
  ids: Value,
  { attend, select }: BlockHooks,
): Value {
  const { normEpsilon } = config;
  const { headNorm } = FAMILIES[config.family];
  let x = diff.embedding(tape, weights.get(EMBEDDING), ids);
  for (let layer = 0; layer < config.layers; layer++) {
    const norm = (name: string): Value =>
      diff.rmsNorm(tape, x, weights.get(layerName(layer, `${name}.weight`)), normEpsilon);
    const into = (group: ProjectionGroup, input: Value): Value[] =>
      project(tape, config, weights, { layer, group, input });
    // The residual is what the product is added to, in one kernel.
    const onto = (residual: Value, group: "o" | "down", input: Value): Value =>
      only(project(tape, config, weights, { layer, group, input, residual })[0]);
    const projected = into("qkv", norm("input_layernorm"));
    let attended = attend(layer, headNorm ? normHeads(tape, config, weights, layer, projected) : projected);
    if (layer === config.layers - 1) [x, attended] = [select(x), select(attended)];
    x = onto(x, "o", attended);
    const [gate, up] = parts(tape, config, "gateUp", into("gateUp", norm("post_attention_layernorm")));
    const hidden = diff.multiply(tape, diff.silu(tape, only(gate)), only(up));
    x = onto(x, "down", hidden);
  }
  return x;
}

/** The final norm, over whichever rows are of interest. */
export function finalNorm(tape: Tape, config: LlamaConfig, weights: GraphWeights, x: Value): Value {
  return diff.rmsNorm(tape, x, weights.get(FINAL_NORM), config.normEpsilon);
}

/** The output embedding [V, D]. */
export function headWeight(config: LlamaConfig, weights: GraphWeights): Value {
  return weights.get(config.tiedEmbeddings ? EMBEDDING : HEAD);
}

/** A group's projections one by one, cut where {@link project} left them in one. */
export function parts(tape: Tape, config: LlamaConfig, group: ProjectionGroup, projected: Value[]): Value[] {
  const sizes = PROJECTION_GROUPS[group].map((projection) => projectionRows(config, projection));
  return projected.length === sizes.length ? projected : diff.split(tape, only(projected[0]), sizes);
}

/** Query, key and value, with the heads of query and key normed one by one. */
function normHeads(
  tape: Tape,
  config: LlamaConfig,
  weights: GraphWeights,
  layer: number,
  projected: Value[],
): Value[] {
  const [query, key, value] = parts(tape, config, "qkv", projected);
  const norm = (x: Value, name: HeadNorm): Value => {
    const heads = diff.reshape(tape, x, [
      product([x.shape[0] ?? 1, Number(x.shape[1]) / config.headSize]),
      config.headSize,
    ]);
    const weight = weights.get(headNormName(layer, name));
    return diff.reshape(tape, diff.rmsNorm(tape, heads, weight, config.normEpsilon), x.shape);
  };
  return [norm(only(query), "q_norm"), norm(only(key), "k_norm"), only(value)];
}

interface Projection {
  layer: number;
  group: ProjectionGroup;
  input: Value;
  /** Added to the output; for groups of one projection. */
  residual?: Value;
}

/** A group's linear layer: in one without an adapter on it, else its projections one by one. */
function project(
  tape: Tape,
  config: LlamaConfig,
  weights: GraphWeights,
  { layer, group, input: x, residual }: Projection,
): Value[] {
  const { adapter } = weights;
  const hasBias = group === "qkv" && FAMILIES[config.family].projectionBias;
  const onto = hasBias ? weights.get(biasName(layer)) : residual;
  const base = diff.linear(tape, x, weights.get(groupName(layer, group)), onto);
  const targets = adapter?.targetsOf(group) ?? [];
  if (adapter === undefined || targets.length === 0) return [base];
  const reduced = diff.linear(tape, x, weights.get(loraAName(layer, group)));
  const inputs =
    targets.length === 1
      ? [reduced]
      : diff.split(
          tape,
          reduced,
          targets.map(() => adapter.rank),
        );
  const outputs = parts(tape, config, group, [base]);
  return outputs.map((output, index) => {
    const projection = PROJECTION_GROUPS[group][index];
    const input = inputs[targets.findIndex((target) => target === projection)];
    if (projection === undefined || input === undefined) return output;
    return diff.linear(tape, input, weights.get(loraBName(layer, projection)), output, adapter.scale);
  });
}

function only(value: Value | undefined): Value {
  if (value === undefined) throw new RangeError("A projection is missing");
  return value;
}
