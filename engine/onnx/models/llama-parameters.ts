import { FAMILIES } from "./families.ts";
import type { LlamaConfig } from "./llama-config.ts";

/** A tensor on disk that is some rows of a tensor in memory. */
export interface ParameterPart {
  /** Its name in a Hugging Face checkpoint. */
  name: string;
  rows: number;
}

/** A tensor in memory. Weights keep Hugging Face's [out, in]; what shares an input is stacked to one matrix. */
export interface ParameterSpec {
  name: string;
  shape: readonly number[];
  /** Top to bottom, together all rows. */
  parts: readonly ParameterPart[];
}

/** The linear layers of a block that share their input, and are one matrix in memory. */
export const PROJECTION_GROUPS = {
  qkv: ["q_proj", "k_proj", "v_proj"],
  o: ["o_proj"],
  gateUp: ["gate_proj", "up_proj"],
  down: ["down_proj"],
} as const;
export type ProjectionGroup = keyof typeof PROJECTION_GROUPS;
export type Projection = (typeof PROJECTION_GROUPS)[ProjectionGroup][number];
export const PROJECTIONS: readonly Projection[] = Object.values(PROJECTION_GROUPS).flat();

const HEAD_NORMS = ["q_norm", "k_norm"] as const;
/** An RMS norm that all heads of query or of key share. */
export type HeadNorm = (typeof HEAD_NORMS)[number];

export const EMBEDDING = "model.embed_tokens.weight";
export const FINAL_NORM = "model.norm.weight";
export const HEAD = "lm_head.weight";

/** Every tensor of a model, in the order of the forward pass. */
export function llamaParameters(config: LlamaConfig): ParameterSpec[] {
  const { vocabularySize, hiddenSize, headSize } = config;
  const { projectionBias, headNorm } = FAMILIES[config.family];
  const specs = [single(EMBEDDING, [vocabularySize, hiddenSize])];
  for (let layer = 0; layer < config.layers; layer++) {
    specs.push(
      single(layerName(layer, "input_layernorm.weight"), [hiddenSize]),
      projectionSpec(config, layer, "qkv"),
      ...(projectionBias ? [biasSpec(config, layer)] : []),
      ...(headNorm ? HEAD_NORMS.map((norm) => single(headNormName(layer, norm), [headSize])) : []),
      projectionSpec(config, layer, "o"),
      single(layerName(layer, "post_attention_layernorm.weight"), [hiddenSize]),
      projectionSpec(config, layer, "gateUp"),
      projectionSpec(config, layer, "down"),
    );
  }
  specs.push(single(FINAL_NORM, [hiddenSize]));
  if (!config.tiedEmbeddings) specs.push(single(HEAD, [vocabularySize, hiddenSize]));
  return specs;
}

export function layerName(layer: number, rest: string): string {
  return `model.layers.${layer}.${rest}`;
}

/** `self_attn.q_proj`: where a module lies inside its layer. */
export function modulePath(module: string): string {
  return module in ATTENTION_MODULES ? `self_attn.${module}` : `mlp.${module}`;
}

/** Name in memory of a group's matrix. */
export function groupName(layer: number, group: ProjectionGroup): string {
  return layerName(layer, `${modulePath(GROUP_MODULE[group])}.weight`);
}

/** Name in memory of the biases of query, key and value, in one. */
export function biasName(layer: number): string {
  return layerName(layer, `self_attn.${GROUP_MODULE.qkv}.bias`);
}

export function headNormName(layer: number, norm: HeadNorm): string {
  return layerName(layer, `self_attn.${norm}.weight`);
}

/** Rows a projection gives. */
export function projectionRows(config: LlamaConfig, projection: Projection): number {
  switch (projection) {
    case "q_proj":
      return config.heads * config.headSize;
    case "k_proj":
    case "v_proj":
      return config.keyValueHeads * config.headSize;
    case "gate_proj":
    case "up_proj":
      return config.feedForwardSize;
    case "o_proj":
    case "down_proj":
      return config.hiddenSize;
  }
}

/** Width of what a group reads. */
export function groupInput(config: LlamaConfig, group: ProjectionGroup): number {
  if (group === "o") return config.heads * config.headSize;
  return group === "down" ? config.feedForwardSize : config.hiddenSize;
}

const GROUP_MODULE = { qkv: "qkv_proj", o: "o_proj", gateUp: "gate_up_proj", down: "down_proj" } as const;
const ATTENTION_MODULES = { q_proj: 1, k_proj: 1, v_proj: 1, qkv_proj: 1, o_proj: 1 };

function single(name: string, shape: readonly [number, ...number[]]): ParameterSpec {
  return { name, shape, parts: [{ name, rows: shape[0] }] };
}

function projectionSpec(config: LlamaConfig, layer: number, group: ProjectionGroup): ParameterSpec {
  const parts = PROJECTION_GROUPS[group].map((projection) => ({
    name: layerName(layer, `${modulePath(projection)}.weight`),
    rows: projectionRows(config, projection),
  }));
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  return { name: groupName(layer, group), shape: [rows, groupInput(config, group)], parts };
}

function biasSpec(config: LlamaConfig, layer: number): ParameterSpec {
  const parts = PROJECTION_GROUPS.qkv.map((projection) => ({
    name: layerName(layer, `${modulePath(projection)}.bias`),
    rows: projectionRows(config, projection),
  }));
  return { name: biasName(layer), shape: [parts.reduce((sum, part) => sum + part.rows, 0)], parts };
}
