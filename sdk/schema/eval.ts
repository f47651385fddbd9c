import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, timestampMs } from "./common.ts";
import { failure } from "./errors.ts";
import type { LaunchEval } from "./launch-eval.ts";
import { MAX_SAMPLES_PER_ROW, passAt } from "./pass-at.ts";
import { rolloutSpec } from "./rollout-spec.ts";

const { maxTurns, terminationPolicy, maxToolTokens, contextTokens, includeThinking, rolloutTimeoutMs } =
  rolloutSpec.shape;
/** How conversations are played, as in a run; what `chatOptions` say comes on top. */
export const evalRollout = z.strictObject({
  maxTurns,
  terminationPolicy,
  maxToolTokens,
  contextTokens,
  includeThinking,
  rolloutTimeoutMs,
});

/** What `new Eval({...}).launch()` sends, part by part; launch-eval.ts has what they are together. */
/** How an eval is made, besides what it plays; launch-eval.ts has the whole. */
export const evalSettings = {
  name: z.optional(z.string()),
  samplesPerRow: z._default(positiveInt.check(z.lte(MAX_SAMPLES_PER_ROW)), 1),
  passAt: z._default(z.array(passAt).check(z.maxLength(20)), []),
  /** From which total on an answer is right, for pass@k. */
  passThreshold: z._default(z.number(), 1),
  concurrency: z._default(positiveInt, 16),
  /** Passed on to chat completions, for example `{ max_tokens: 64, temperature: 1 }`. */
  chatOptions: z._default(z.record(z.string(), z.unknown()), {}),
  seed: z._default(nonNegativeInt, 0),
};

export const evalState = z.enum(["queued", "starting", "running", "succeeded", "failed", "cancelled"]);
export type EvalState = z.infer<typeof evalState>;

export const interval = z.object({ mean: z.number(), low: z.number(), high: z.number(), n: nonNegativeInt });
/** Mean with a 95 % interval over rows. */
export type Interval = z.infer<typeof interval>;

/** Who reads an answer has no use for the whole schema of its spec; launch-eval.ts has it. */
export const evalRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  name: z.optional(z.string()),
  spec: z.custom<LaunchEval>(),
  state: evalState,
  attempt: nonNegativeInt,
  done: nonNegativeInt,
  total: nonNegativeInt,
  /** Rows without a verdict; excluded from every mean. */
  missing: nonNegativeInt,
  /** Of these, rows that could not be played at all. */
  failed: z._default(nonNegativeInt, 0),
  /** Mean total reward. */
  score: z.optional(interval),
  /** Mean of each reward. */
  scores: z.record(z.string(), interval),
  /** pass@k by k, over the rows with at least k verdicts. */
  passes: z._default(z.record(z.string(), interval), {}),
  failure: z.optional(failure),
  createdAtMs: timestampMs,
  endedAtMs: z.optional(timestampMs),
  heartbeatAtMs: z.optional(timestampMs),
});
export type EvalRecord = z.infer<typeof evalRecord>;
