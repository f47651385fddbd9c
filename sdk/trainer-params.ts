import type * as z from "zod/mini";
import { SpotterError } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { trainerConflicts, type TrainerConflict } from "./schema/trainer-conflicts.ts";
import type { TrainerSpec } from "./schema/trainer-spec.ts";

export interface TrainerParams {
  /** Optimizer steps; with `startFrom` these come on top. */
  steps: number;
  /** Default 2e-4, for adapters and small models: slime, which learns all weights, is not started with it for large ones. */
  learningRate?: number;
  /** Steps over which the learning rate rises. Default 0. */
  warmupSteps?: number;
  /** Default "constant". */
  schedule?: "constant" | "linear" | "cosine";
  /** Where a warm-up begins and a decay ends. Default 0. */
  minLearningRate?: number;
  /** Of the linear schedule: the last steps, in which the rate falls. Default: all after the warm-up. */
  decaySteps?: number;
  /** Default "adamw". `muon` makes the steps of matrices orthogonal, `sign_sgd` remembers nothing. */
  optimizer?: "adamw" | "sgd" | "muon" | "sign_sgd";
  /** Of sgd and muon. Defaults 0.9 and 0.95. */
  momentum?: number;
  /** Of sgd: look a step ahead. Default: where there is momentum. */
  nesterov?: boolean;
  /** Of AdamW, and of muon for what is no matrix. Defaults 0.9, 0.95, 1e-8. */
  beta1?: number;
  beta2?: number;
  epsilon?: number;
  /** Default 0. */
  weightDecay?: number;
  /** Gradients are scaled down to this norm. Default 1. */
  maxGradNorm?: number;
  /** Sequences in one forward and backward pass. Default 128. */
  microBatchSize?: number;
  /** A checkpoint every so many steps. Default: only after the last step. */
  saveEvery?: number;
  /** Evaluate on `evalDataset` every so many steps. Default: never. */
  evalEvery?: number | null;
}

/**
 * A recipe's options, checked one by one and together.
 *
 * @throws SpotterError `invalid_input` or `unknown_key`, listing what is wrong.
 */
export function parseRecipe<Schema extends z.ZodMiniType<TrainerSpec>>(
  schema: Schema,
  params: TrainerParams,
  where: string,
): z.infer<Schema> {
  const flat = parseWith(schema, params, where);
  const conflicts = [...trainerConflicts(flat), ...idleBetas(flat, params)];
  if (conflicts.length === 0) return flat;
  const lines = conflicts.map(({ key, message }) => `\n  ${key}: ${message}`);
  throw new SpotterError("invalid_input", `${where} is not valid:${lines.join("")}`, {
    where: conflicts[0]?.key,
    hint: "Leave out what does not go with the rest.",
  });
}

/** They have defaults, so that what was written tells whether somebody meant them. */
function idleBetas({ optimizer }: TrainerSpec, written: TrainerParams): TrainerConflict[] {
  if (optimizer === "adamw" || optimizer === "muon") return [];
  return (["beta1", "beta2", "epsilon"] as const)
    .filter((key) => written[key] !== undefined)
    .map((key) => ({ key, message: `is of adamw and muon; ${optimizer} has none` }));
}
