import * as z from "zod/mini";

/** How large the parts of a Llama, or of a model of a family that grew from it, are. */
export interface ModelShape {
  vocabularySize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  keyValueHeads: number;
  headSize: number;
  feedForwardSize: number;
  /** Longest sequence. */
  maxPositions: number;
  tiedEmbeddings: boolean;
}

const size = z.number().check(z.int(), z.gt(0));
const hfConfig = z.object({
  model_type: z.optional(z.string()),
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: z.nullish(size),
  head_dim: z.nullish(size),
  intermediate_size: size,
  max_position_embeddings: z.nullish(size),
  tie_word_embeddings: z._default(z.boolean(), false),
});

/** Qwen3 leaves it out where it is this. */
const QWEN3_HEAD_SIZE = 128;
const USUAL_POSITIONS = 2_048;

/** From a `config.json`. Undefined for what is none of ours: whoever loads the model says what is wrong with it. */
export function shapeOf(config: unknown): ModelShape | undefined {
  const parsed = z.safeParse(hfConfig, config);
  if (!parsed.success) return undefined;
  const hf = parsed.data;
  const heads = hf.num_attention_heads;
  const usualHeadSize = hf.model_type === "qwen3" ? QWEN3_HEAD_SIZE : hf.hidden_size / heads;
  return {
    vocabularySize: hf.vocab_size,
    hiddenSize: hf.hidden_size,
    layers: hf.num_hidden_layers,
    heads,
    keyValueHeads: hf.num_key_value_heads ?? heads,
    headSize: hf.head_dim ?? usualHeadSize,
    feedForwardSize: hf.intermediate_size,
    maxPositions: hf.max_position_embeddings ?? USUAL_POSITIONS,
    tiedEmbeddings: hf.tie_word_embeddings,
  };
}

/** The one that comes with the package, wherever its files are. */
export const NANO_SHAPE: ModelShape = {
  vocabularySize: 1_280,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  keyValueHeads: 2,
  headSize: 32,
  feedForwardSize: 384,
  maxPositions: 1_024,
  tiedEmbeddings: true,
};

/** Weights of the matrices, which are all but a few thousandths of a model. */
export function parametersOf(shape: ModelShape): number {
  const { vocabularySize, hiddenSize, layers } = shape;
  const perLayer = Object.values(projectionsOf(shape)).reduce(
    (sum, [rows, columns]) => sum + rows * columns,
    0,
  );
  return layers * perLayer + vocabularySize * hiddenSize * (shape.tiedEmbeddings ? 1 : 2);
}

/** Weights of an adapter of a rank on some projections. */
export function adapterParametersOf(shape: ModelShape, rank: number, targets: readonly string[]): number {
  const projections = Object.entries(projectionsOf(shape)).filter(([name]) => targets.includes(name));
  return shape.layers * rank * projections.reduce((sum, [, [rows, columns]]) => sum + rows + columns, 0);
}

function projectionsOf(shape: ModelShape): Record<string, [rows: number, columns: number]> {
  const { hiddenSize, heads, keyValueHeads, headSize, feedForwardSize } = shape;
  return {
    q_proj: [heads * headSize, hiddenSize],
    k_proj: [keyValueHeads * headSize, hiddenSize],
    v_proj: [keyValueHeads * headSize, hiddenSize],
    o_proj: [hiddenSize, heads * headSize],
    gate_proj: [feedForwardSize, hiddenSize],
    up_proj: [feedForwardSize, hiddenSize],
    down_proj: [hiddenSize, feedForwardSize],
  };
}
