import * as z from "zod/mini";
import { nonNegativeInt, positiveInt, timestampMs } from "./common.ts";
import { failure } from "./errors.ts";
import { answersPerRow, MAX_SAMPLES_PER_ROW, passAt } from "./pass-at.ts";
import {
  datasetRef,
  environmentSetup,
  pythonSetup,
  rewardSetup,
  rolloutSpec,
  toolSetup,
} from "./run-spec.ts";

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

/** What `new Eval({...}).launch()` sends: every row is answered `samplesPerRow` times and judged. */
export const launchEval = z
  .strictObject({
    name: z.optional(z.string()),
    /** Name of the endpoint to ask. */
    endpoint: z.string(),
    dataset: datasetRef,
    rewards: z.optional(rewardSetup),
    tools: z.optional(toolSetup),
    python: z.optional(pythonSetup),
    environments: z.optional(z.array(environmentSetup).check(z.minLength(1), z.maxLength(100))),
    rollout: z.prefault(evalRollout, {}),
    samplesPerRow: z._default(positiveInt.check(z.lte(MAX_SAMPLES_PER_ROW)), 1),
    passAt: z._default(z.array(passAt).check(z.maxLength(20)), []),
    /** From which total on an answer is right, for pass@k. */
    passThreshold: z._default(z.number(), 1),
    concurrency: z._default(positiveInt, 16),
    /** Passed on to chat completions, for example `{ max_tokens: 64, temperature: 1 }`. */
    chatOptions: z._default(z.record(z.string(), z.unknown()), {}),
    seed: z._default(nonNegativeInt, 0),
  })
  .check(
    z.refine(
      ({ rewards, python, environments }) => (rewards ?? python?.rewards ?? environments) !== undefined,
      { path: ["rewards"], message: "missing; an eval needs at least one reward, or an environment" },
    ),
    z.refine(({ rewards, python }) => rewards === undefined || python?.rewards === undefined, {
      path: ["python", "rewards"],
      message: "judge as well as rewards; write all rewards in one language",
    }),
    z.refine(({ passAt: passes }) => new Set(passes.map(({ k }) => k)).size === passes.length, {
      path: ["passAt"],
      message: "names a k twice",
    }),
    z.refine(({ passAt: passes, samplesPerRow }) => passes.every(({ k }) => k <= samplesPerRow), {
      path: ["samplesPerRow"],
      message: "is less than a k of passAt: pass@k needs at least k answers to each row",
    }),
  );
export type LaunchEval = z.infer<typeof launchEval>;
export type LaunchEvalInput = z.input<typeof launchEval>;

/** How many conversations an eval plays. */
export function totalAnswers(spec: Pick<LaunchEval, "dataset" | "passAt" | "samplesPerRow">): number {
  return spec.dataset.rows * answersPerRow(spec);
}

export const evalState = z.enum(["queued", "starting", "running", "succeeded", "failed", "cancelled"]);
export type EvalState = z.infer<typeof evalState>;

export const interval = z.object({ mean: z.number(), low: z.number(), high: z.number(), n: nonNegativeInt });
/** Mean with a 95 % interval over rows. */
export type Interval = z.infer<typeof interval>;

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
