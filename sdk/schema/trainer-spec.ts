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
