import * as z from "zod/mini";
import { nonNegativeInt, positiveInt } from "./common.ts";

const WEEK_MS = 7 * 24 * 60 * 60_000;

/** Which checkpoints of a run stay, beside pinned and used ones. Absent: all. */
export const retention = z.strictObject({
  /** The newest so many. */
  keepLast: z.optional(positiveInt),
  /** Those of every so many steps. */
  keepEvery: z.optional(positiveInt),
});
export type Retention = z.infer<typeof retention>;

/** `POST /cleanup`. */
export const cleanupRequest = z.strictObject({
  /** Only tell what would go. */
  dryRun: z._default(z.boolean(), false),
  /** Only what belongs to work that ended this long ago, or was not used since. Default: a week. */
  olderThanMs: z._default(nonNegativeInt, WEEK_MS),
  /** Checkpoints that stay of each ended run without a retention of its own. Default: all. */
  keepLast: z.optional(nonNegativeInt),
});
export type CleanupRequest = z.infer<typeof cleanupRequest>;

export const cleanupItem = z.object({
  kind: z.enum(["checkpoint", "rollouts", "dataset", "user-code", "model", "leftover", "cache"]),
  name: z.string(),
  bytes: nonNegativeInt,
  /** Why nobody needs it. */
  reason: z.string(),
});
export type CleanupItem = z.infer<typeof cleanupItem>;

/** What went, or would go. */
export const cleanupReport = z.object({
  dryRun: z.boolean(),
  items: z.array(cleanupItem),
  bytes: nonNegativeInt,
});
export type CleanupReport = z.infer<typeof cleanupReport>;
