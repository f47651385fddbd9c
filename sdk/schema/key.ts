import * as z from "zod/mini";
import { countUpTo, nonNegativeInt, recordName, timestampMs } from "./common.ts";

/** `admin` may do everything, `write` launches and stops, `chat` talks to endpoints. */
export const keyScope = z.enum(["admin", "write", "chat"]);
export type KeyScope = z.infer<typeof keyScope>;

const limit = countUpTo(1e12);

/** What a key may use up under `/v1`; absent: no limit. */
export const keyLimits = z.strictObject({
  requestsPerMinute: z.optional(limit),
  /** Prompt and completion tokens. */
  tokensPerMinute: z.optional(limit),
  /** Prompt and completion tokens in a month of UTC. */
  tokensPerMonth: z.optional(limit),
});
export type KeyLimits = z.infer<typeof keyLimits>;

/** Endpoints, aliases, runs or checkpoints by name. */
const names = z.array(z.string().check(z.minLength(1), z.maxLength(300))).check(z.maxLength(1_000));

export const createKey = z.strictObject({
  name: recordName,
  scope: z._default(keyScope, "chat"),
  /** Endpoints (or aliases, runs, checkpoints) it may chat with; absent: all. */
  endpoints: z.optional(names),
  limits: z.optional(keyLimits),
});
export type CreateKeyInput = z.input<typeof createKey>;

/** Body of `PATCH /keys/:id`. What is absent stays; null takes a limit or the list away. */
export const updateKey = z.strictObject({
  endpoints: z.optional(z.nullable(names)),
  limits: z.optional(
    z.strictObject({
      requestsPerMinute: z.optional(z.nullable(limit)),
      tokensPerMinute: z.optional(z.nullable(limit)),
      tokensPerMonth: z.optional(z.nullable(limit)),
    }),
  ),
});
export type UpdateKeyInput = z.input<typeof updateKey>;

/** What a key used in one month. At most a second old. */
export const keyUsage = z.object({
  /** Of UTC, as in `2026-11`. */
  month: z.string(),
  requests: nonNegativeInt,
  promptTokens: nonNegativeInt,
  completionTokens: nonNegativeInt,
  /** Requests among them whose tokens are an estimate: the engine did not tell, or the client left early. */
  estimated: nonNegativeInt,
  lastAtMs: timestampMs,
});
export type KeyUsage = z.infer<typeof keyUsage>;

export const keyRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  name: z.string(),
  scope: keyScope,
  endpoints: z.optional(z.array(z.string())),
  limits: z.optional(keyLimits),
  createdAtMs: timestampMs,
  revokedAtMs: z.optional(timestampMs),
  /** This month's, in listings; absent for a key that was not used in it. */
  usage: z.optional(keyUsage),
});
export type KeyRecord = z.infer<typeof keyRecord>;

/** The key itself is in this answer and nowhere else. */
export const createdKey = z.object({ key: z.string(), record: keyRecord });
export type CreatedKey = z.infer<typeof createdKey>;
