import * as z from "zod/mini";
import { displayNameOrEmpty, nonNegativeInt, runTags, timestampMs } from "./common.ts";
import { charge, estimate, spend } from "./cost.ts";
import { failure } from "./errors.ts";
import type { RunSpec } from "./run-spec.ts";

export const RUN_STATES = [
  "queued",
  "provisioning",
  "starting",
  "running",
  "saving",
  "succeeded",
  "failed",
  "cancelled",
  "paused",
] as const;
export const runState = z.enum(RUN_STATES);
export type RunState = z.infer<typeof runState>;

export const RUN_PHASES = [
  "download-model",
  "prepare-dataset",
  "convert-model",
  "wait-for-teacher",
  "generate",
  "score",
  "train",
  "sync-weights",
  "evaluate",
  "save-checkpoint",
] as const;
export const runPhase = z.enum(RUN_PHASES);
export type RunPhase = z.infer<typeof runPhase>;

/** Small on purpose: lists page through these. */
export const run = z.object({
  v: z.literal(1),
  id: z.string(),
  name: z.optional(z.string()),
  tags: z.array(z.string()),
  kind: z.enum(["rl", "sft", "distill"]),
  model: z.string(),
  state: runState,
  /** Why it waits, for example `capacity`. */
  waitingFor: z.optional(z.string()),
  phase: z.optional(runPhase),
  /** Steps finished. */
  step: nonNegativeInt,
  steps: nonNegativeInt,
  /** Attempt that owns the run now; 0 before the first. */
  attempt: nonNegativeInt,
  cancelRequested: z.boolean(),
  /** It is asked to save and pause, and has not done so yet. */
  pauseRequested: z.optional(z.boolean()),
  /** Since when its container lives without getting anywhere. */
  stalledSinceMs: z.optional(timestampMs),
  /** What people wrote about it. */
  notes: z.optional(z.string()),
  /** Not in lists unless asked for. */
  archived: z.optional(z.boolean()),
  failure: z.optional(failure),
  /** What its containers have cost until this was read. Absent before the first. */
  spend: z.optional(spend),
  /** Latest value of each metric, as far as there is room for their names; all are in its events. */
  metrics: z.record(z.string(), z.number()),
  createdAtMs: timestampMs,
  startedAtMs: z.optional(timestampMs),
  endedAtMs: z.optional(timestampMs),
  heartbeatAtMs: z.optional(timestampMs),
});
export type Run = z.infer<typeof run>;

/** `PATCH /runs/:id`: what people say about a run. What is absent stays; an empty text removes. */
export const updateRun = z.strictObject({
  name: z.optional(displayNameOrEmpty),
  tags: z.optional(runTags),
  notes: z.optional(z.string().check(z.maxLength(10_000))),
  archived: z.optional(z.boolean()),
});
export type UpdateRun = z.infer<typeof updateRun>;

/**
 * The full record: the summary, its spec and where to look at it. Who reads an answer passes what it knows of specs:
 * the whole schema is too much for a script, see run-detail.ts.
 */
export function runDetailOf<S extends z.ZodMiniType<RunSpec>>(spec: S) {
  return z.object({
    run,
    spec,
    url: z.string(),
    /** Its containers, with what they cost. */
    charges: z.optional(z.array(charge)),
    /** What was thought when it was launched. */
    estimate: z.optional(estimate),
  });
}
export type RunDetail = z.infer<ReturnType<typeof runDetailOf<z.ZodMiniType<RunSpec>>>>;

export const TERMINAL_RUN_STATES: readonly RunState[] = ["succeeded", "failed", "cancelled"];
