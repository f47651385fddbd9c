import * as z from "zod/mini";

/** Every projection of a layer that an adapter can target: PEFT's `all-linear`. */
const ALL_LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

/** What is read of PEFT's `adapter_config.json`. */
const adapterConfig = z.looseObject({
  r: z.number(),
  lora_alpha: z.number(),
  target_modules: z.union([z.array(z.string()), z.literal("all-linear")]),
  use_rslora: z.nullish(z.boolean()),
});

/** What a run must say of an adapter to train it on. */
export interface AdapterShape {
  r: number;
  /** Of the plain kind: rank-stabilised adapters (arXiv:2312.03732) divide by the root of the rank, not by the rank. */
  alpha: number;
  targets: string[];
}

/**
 * Reads the parsed `adapter_config.json` of a PEFT folder; undefined where it is none.
 *
 * @example
 * adapterShape({ r: 8, lora_alpha: 16, target_modules: ["q_proj"] }); // { r: 8, alpha: 16, targets: ["q_proj"] }
 */
export function adapterShape(config: unknown): AdapterShape | undefined {
  const parsed = adapterConfig.safeParse(config);
  if (!parsed.success) return undefined;
  const { r, lora_alpha: alpha, target_modules: targets, use_rslora: stabilised } = parsed.data;
  return {
    r,
    alpha: stabilised ? alpha * Math.sqrt(r) : alpha,
    targets: targets === "all-linear" ? ALL_LINEAR : targets,
  };
}
