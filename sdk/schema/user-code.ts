import * as z from "zod/mini";
import { positiveInt, sha256, timestampMs } from "./common.ts";
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
  bytes: positiveInt,
  createdAtMs: timestampMs,
});
export type UserCodeRecord = z.infer<typeof userCodeRecord>;

/** `POST /user-code/:sha256/rewards`: judge rows once, without a run (used by preflight and `spotter test`). */
export const judgeRequest = z.strictObject({
  rows: z.array(rewardRow),
  names: z.optional(z.array(z.string())),
  timeoutMs: z._default(positiveInt, 10_000),
});
export const judgeResponse = z.object({ verdicts: z.array(verdict) });
