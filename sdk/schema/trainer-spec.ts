import * as z from "zod/mini";
import { countUpTo, nonNegativeInt, positiveInt } from "./common.ts";

/** Sequences of one step: all are in memory at once. */
export const MAX_SEQUENCES = 65_536;

/** Logits of one pass of the embedded engine at most, of which there is a handful of copies: 256 MB each. */
export const PASS_LOGITS = 2 ** 26;

/** How weights are changed, whatever is learnt. */
export const trainerSpec = z.strictObject({
  steps: z.number().check(z.int(), z.lte(10_000_000)),
  learningRate: z._default(z.number().check(z.gt(0), z.lte(10)), 2e-4),
  warmupSteps: z._default(nonNegativeInt, 0),
  schedule: z._default(z.enum(["constant", "linear", "cosine"]), "constant"),
  /** Where a warm-up begins and a decay ends. Absent: 0. */
  minLearningRate: z.optional(z.number().check(z.gte(0), z.lte(10))),
  /** Of the linear schedule: the last steps, in which the rate falls. Absent: all after the warm-up. */
  decaySteps: z.optional(nonNegativeInt),
  optimizer: z._default(z.enum(["adamw", "sgd", "muon", "sign_sgd"]), "adamw"),
  /** Of sgd and muon. Absent: 0.9 and 0.95. */
  momentum: z.optional(z.number().check(z.gte(0), z.lt(1))),
  /** Of sgd: look a step ahead. Absent: where there is momentum. */
  nesterov: z.optional(z.boolean()),
  /** Of adamw, and of muon for what is no matrix. */
  beta1: z._default(z.number().check(z.gte(0), z.lt(1)), 0.9),
  beta2: z._default(z.number().check(z.gte(0), z.lt(1)), 0.95),
  epsilon: z._default(z.number().check(z.gt(0)), 1e-8),
  weightDecay: z._default(z.number().check(z.gte(0)), 0),
  maxGradNorm: z._default(z.number().check(z.gt(0)), 1),
  microBatchSize: z._default(countUpTo(MAX_SEQUENCES), 128),
  /** A checkpoint every N steps; the last step always saves. */
  saveEvery: z.optional(positiveInt),
});
export type TrainerSpec = z.infer<typeof trainerSpec>;

/** A setting that does not go with another, and why. */
export interface TrainerConflict {
  key: keyof TrainerSpec;
  message: string;
}

/** What of a trainer's settings does not go together. */
export function trainerConflicts(trainer: TrainerSpec): TrainerConflict[] {
  const { optimizer, momentum, nesterov, schedule, decaySteps, learningRate } = trainer;
  const tail = (decaySteps ?? 0) + trainer.warmupSteps;
  const conflicts: [boolean, keyof TrainerSpec, string][] = [
    [
      momentum !== undefined && optimizer !== "sgd" && optimizer !== "muon",
      "momentum",
      `is of sgd and muon; ${optimizer} has none`,
    ],
    [nesterov !== undefined && optimizer !== "sgd", "nesterov", `is of sgd; ${optimizer} has none`],
    [nesterov === true && momentum === 0, "nesterov", "looks ahead along the momentum, which is 0"],
    [
      decaySteps !== undefined && schedule !== "linear",
      "decaySteps",
      `is of the linear schedule; ${schedule} has none`,
    ],
    [
      decaySteps !== undefined && tail > trainer.steps,
      "decaySteps",
      `and warmupSteps are ${tail} together, more than the ${trainer.steps} steps`,
    ],
    [
      (trainer.minLearningRate ?? 0) > learningRate,
      "minLearningRate",
      `must be at most learningRate, which is ${learningRate}`,
    ],
  ];
  return conflicts.flatMap(([applies, key, message]) => (applies ? [{ key, message }] : []));
}
