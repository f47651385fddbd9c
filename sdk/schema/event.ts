import * as z from "zod/mini";
import { nonNegativeInt, timestampMs } from "./common.ts";
import { failure } from "./errors.ts";
import { runPhase, runState } from "./run.ts";

/** What happens in a run, in order. `seq` counts within the run's stream and never repeats. */
export const runEventBody = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("state"),
    state: runState,
    waitingFor: z.optional(z.string()),
    failure: z.optional(failure),
  }),
  z.object({
    type: z.literal("phase"),
    phase: runPhase,
    current: z.optional(nonNegativeInt),
    total: z.optional(nonNegativeInt),
  }),
  z.object({
    type: z.literal("metrics"),
    step: nonNegativeInt,
    metrics: z.record(z.string(), z.number()),
    /** Told after those of a later step: the run is further than this. */
    late: z.optional(z.boolean()),
  }),
  z.object({ type: z.literal("rollouts"), step: nonNegativeInt, count: nonNegativeInt, sha256: z.string() }),
  z.object({ type: z.literal("checkpoint"), step: nonNegativeInt, id: z.string() }),
  z.object({
    type: z.literal("log"),
    level: z.enum(["debug", "info", "warn", "error"]),
    message: z.string(),
  }),
  z.object({ type: z.literal("attempt"), attempt: nonNegativeInt, reason: z.optional(z.string()) }),
]);
export type RunEventBody = z.infer<typeof runEventBody>;

export const runEvent = z.object({ seq: nonNegativeInt, atMs: timestampMs, body: runEventBody });
export type RunEvent = z.infer<typeof runEvent>;

/** Answer of `GET /runs/:id/events?after=SEQ&waitMs=N`: at once if there is news, else when there is. */
export const runEventPage = z.object({
  events: z.array(runEvent),
  /** Pass as `after` next time. */
  next: nonNegativeInt,
  /** Nothing will follow: the run has ended and everything was read. */
  done: z.boolean(),
});
export type RunEventPage = z.infer<typeof runEventPage>;
