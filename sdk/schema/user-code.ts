import * as z from "zod/mini";
import { positiveInt, rewardTimeoutMs, sha256, timestampMs } from "./common.ts";
import { rewardRow, verdict } from "./rollout.ts";

export const userCodeExport = z.object({
  name: z.string(),
  kind: z.enum(["reward", "tool", "environment"]),
  weight: z.optional(z.number()),
  precondition: z.optional(z.boolean()),
  timeoutMs: z.optional(z.number()),
  description: z.optional(z.string()),
});
export type UserCodeExport = z.infer<typeof userCodeExport>;

/** Answer of `PUT /user-code/:sha256` (body: the bundled module) after it was loaded once in an isolate. */
export const userCodeRecord = z.object({
  v: z.literal(1),
  sha256,
  /** File name the user knows it by, for messages. */
  name: z.string(),
  exports: z.array(userCodeExport),
  /** Exported names that are none of these, for messages. */
  others: z.optional(z.array(z.string())),
  bytes: positiveInt,
  createdAtMs: timestampMs,
});
export type UserCodeRecord = z.infer<typeof userCodeRecord>;

/** `POST /user-code/:sha256/rewards`: judge rows once, without a run (used by preflight and `spotter test`). */
export const judgeRequest = z.strictObject({
  rows: z.array(rewardRow),
  names: z.optional(z.array(z.string())),
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
  /** Names of secrets to grant. Default: none. */
  secrets: z._default(z.array(z.string()), []),
});
export const judgeResponse = z.object({ verdicts: z.array(verdict) });

/** Of a score, up and down. What is larger drowns every other reward, and rounding the differences. */
export const MAX_SCORE = 1e6;

/** What a reward may return; scores from -{@link MAX_SCORE} to {@link MAX_SCORE}. */
export const rewardValue = z.union([
  z.number(),
  z.strictObject({
    score: z.number(),
    metrics: z.optional(z.record(z.string(), z.number())),
    reason: z.optional(z.string()),
  }),
]);

/** Between the home and the adapter inside an isolate. `GET /`: what there is. */
export const isolateDescription = z.object({
  exports: z.array(userCodeExport),
  /** Exported names that are no reward, tool or environment. */
  others: z.array(z.string()),
  /** Whether one call may name several exports; bundles of older versions take one, as `export` beside `rows`. */
  joint: z.optional(z.boolean()),
});
/**
 * `POST /`: some exports over the same rows. The body is this header and the rows as JSON, a line each: every
 * export parses the rows anew, so that none sees what another one changed in them.
 */
export const isolateRequest = z.object({
  exports: z.array(z.string()),
  secrets: z.record(z.string(), z.string()),
  timeoutMs: z.number(),
});
export type IsolateRequest = z.infer<typeof isolateRequest>;
export const isolateOutcome = z.union([
  z.object({
    error: z.object({ code: z.string(), message: z.string(), stack: z.optional(z.string()) }),
  }),
  z.object({ value: z.unknown() }),
]);
/** The answer is `{ results }`: one outcome a row, by export, then by row; `stack` has positions in the bundle. */
export type IsolateOutcome = z.infer<typeof isolateOutcome>;
