/** What a family of models computes beside what all of them do, and what its config.json may leave out. */
export interface FamilyTraits {
  /** The class of Transformers that reads it. */
  architecture: string;
  /** The projections to query, key and value have biases. */
  projectionBias: boolean;
  /** Every head of query and key goes through an RMS norm, before positions are put into it. */
  headNorm: boolean;
  /** `max_position_embeddings` where the file has none. */
  maxPositions: number;
  /** `num_key_value_heads` where the file has none; undefined: as many as there are heads. */
  keyValueHeads?: number;
  /** `head_dim` where the file has none; undefined: the width divided by the heads. */
  headSize?: number;
}

/** `model_type` of the families that the embedded engine runs; Qwen2.5 calls itself qwen2, SmolLM2 llama. */
export type ModelFamily = "llama" | "qwen2" | "qwen3";

export const FAMILIES: Readonly<Record<ModelFamily, FamilyTraits>> = {
  llama: {
    architecture: "LlamaForCausalLM",
    projectionBias: false,
    headNorm: false,
    maxPositions: 2048,
  },
  qwen2: {
    architecture: "Qwen2ForCausalLM",
    projectionBias: true,
    headNorm: false,
    maxPositions: 32_768,
    keyValueHeads: 32,
  },
  qwen3: {
    architecture: "Qwen3ForCausalLM",
    projectionBias: false,
    headNorm: true,
    maxPositions: 32_768,
    keyValueHeads: 32,
    headSize: 128,
  },
};

/** The family of a `model_type`, where it is one of {@link FAMILIES}. */
export function familyOf(modelType: string): ModelFamily | undefined {
  return Object.hasOwn(FAMILIES, modelType) ? (modelType as ModelFamily) : undefined;
}
