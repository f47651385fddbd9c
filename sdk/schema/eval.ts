import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, timestampMs } from "./common.ts";
import { failure } from "./errors.ts";
import { datasetRef, rewardSetup } from "./run-spec.ts";
import { verdict } from "./rollout.ts";

/** What `new Eval({...}).launch()` sends: every row is asked `samplesPerRow` times and judged. */
export const launchEval = z.strictObject({
  name: z.optional(z.string()),
  /** Name of the endpoint to ask. */
  endpoint: z.string(),
  dataset: datasetRef,
  rewards: rewardSetup,
  samplesPerRow: z._default(positiveInt, 1),
  concurrency: z._default(positiveInt, 16),
  /** Passed on to chat completions, for example `{ max_tokens: 64, temperature: 1 }`. */
  chatOptions: z._default(z.record(z.string(), z.unknown()), {}),
  seed: z._default(nonNegativeInt, 0),
});
export type LaunchEval = z.infer<typeof launchEval>;
export type LaunchEvalInput = z.input<typeof launchEval>;

export const evalState = z.enum(["queued", "starting", "running", "succeeded", "failed", "cancelled"]);
export type EvalState = z.infer<typeof evalState>;

export const interval = z.object({ mean: z.number(), low: z.number(), high: z.number(), n: nonNegativeInt });
/** Mean with a 95 % interval. */
export type Interval = z.infer<typeof interval>;

export const evalRow = z.object({
  /** Index of the dataset row, and which of its samples this is. */
  row: nonNegativeInt,
  sample: nonNegativeInt,
  input: z.record(z.string(), z.unknown()),
  text: z.string(),
  finishReason: z.string(),
  tokens: nonNegativeInt,
  verdict,
});
export type EvalRow = z.infer<typeof evalRow>;

export const evalRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  name: z.optional(z.string()),
  spec: launchEval,
  state: evalState,
  attempt: nonNegativeInt,
  done: nonNegativeInt,
  total: nonNegativeInt,
  /** Rows without a verdict; excluded from every mean. */
  missing: nonNegativeInt,
  /** Mean total reward. */
  score: z.optional(interval),
  /** Mean of each reward. */
  scores: z.record(z.string(), interval),
  failure: z.optional(failure),
  createdAtMs: timestampMs,
  endedAtMs: z.optional(timestampMs),
  heartbeatAtMs: z.optional(timestampMs),
});
export type EvalRecord = z.infer<typeof evalRecord>;
