import * as z from "zod/mini";
import { DESCRIBED } from "../../../sdk/schema/describe-issue.ts";
import { corrupt, corruptKeys, unsupported } from "./config-errors.ts";

/**
 * How Llama 3.1 and later stretch rotary embeddings: pairs that turn slowly, seldom or never once within the
 * positions of the original training, turn `factor` times slower; quick ones stay; those between are blended.
 */
export interface RopeScaling {
  factor: number;
  /** A pair that turns fewer times than this in the original positions is slowed down by all of `factor`. */
  lowFrequencyFactor: number;
  /** A pair that turns more often than this stays as it is. */
  highFrequencyFactor: number;
  originalMaxPositions: number;
}

const positive = z.number().check(z.positive());

/** `rope_scaling` of older files, `rope_parameters` of newer ones. */
export const ropeSchema = z.looseObject({
  rope_type: z.optional(z.string()),
  /** What `rope_type` was called before. */
  type: z.optional(z.string()),
  rope_theta: z.optional(positive),
  partial_rotary_factor: z.nullish(z.number()),
});

const llama3Schema = z.object({
  factor: positive,
  low_freq_factor: positive,
  high_freq_factor: positive,
  original_max_position_embeddings: z.int().check(z.positive()),
});

/**
 * Reads one of the keys that tell of scaling; undefined where there is none.
 *
 * @param key `rope_scaling` or `rope_parameters`, which errors name
 * @throws SpotterError `model_unsupported` for any but Llama 3's, `model_corrupt` where that lacks a number.
 */
export function parseRopeScaling(
  rope: z.infer<typeof ropeSchema>,
  key: string,
  file: string,
): RopeScaling | undefined {
  if ((rope.partial_rotary_factor ?? 1) !== 1) {
    throw unsupported(file, `${key}.partial_rotary_factor`, `is ${rope.partial_rotary_factor}, not 1`);
  }
  const type = rope.rope_type ?? rope.type ?? "default";
  if (type === "default") return undefined;
  if (type !== "llama3") {
    const named = rope.rope_type === undefined ? "type" : "rope_type";
    throw unsupported(file, `${key}.${named}`, `is ${JSON.stringify(type)}, not "llama3" or "default"`);
  }
  const parsed = z.safeParse(llama3Schema, rope, DESCRIBED);
  if (!parsed.success) throw corruptKeys(file, parsed.error, key);
  const { factor, low_freq_factor: low, high_freq_factor: high } = parsed.data;
  if (high <= low) {
    throw corrupt(file, `${key}.high_freq_factor: must be above low_freq_factor, ${low}, is ${high}`);
  }
  return {
    factor,
    lowFrequencyFactor: low,
    highFrequencyFactor: high,
    originalMaxPositions: parsed.data.original_max_position_embeddings,
  };
}

/** `rope_scaling` as Transformers reads it. */
export function toHfRopeScaling(scaling: RopeScaling | undefined): Record<string, unknown> | null {
  if (scaling === undefined) return null;
  return {
    rope_type: "llama3",
    factor: scaling.factor,
    low_freq_factor: scaling.lowFrequencyFactor,
    high_freq_factor: scaling.highFrequencyFactor,
    original_max_position_embeddings: scaling.originalMaxPositions,
  };
}

/**
 * The angle a pair turns by from one position to the next, in radians.
 *
 * @example
 * scaleFrequency(1, { factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 }); // 1
 */
export function scaleFrequency(frequency: number, scaling: RopeScaling | undefined): number {
  if (scaling === undefined) return frequency;
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
  const turns = (scaling.originalMaxPositions * frequency) / (2 * Math.PI);
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
  return kept * frequency + ((1 - kept) * frequency) / factor;
}
