import * as z from "zod/mini";
import { recordName, timestampMs } from "./common.ts";

/** `admin` may do everything, `write` launches and stops, `chat` talks to endpoints. */
export const keyScope = z.enum(["admin", "write", "chat"]);
export type KeyScope = z.infer<typeof keyScope>;

export const createKey = z.strictObject({
  name: recordName,
  scope: z._default(keyScope, "chat"),
  /** Endpoints a chat key may use; absent: all. */
  endpoints: z.optional(z.array(z.string())),
});
export type CreateKeyInput = z.input<typeof createKey>;

export const keyRecord = z.object({
  v: z.literal(1),
  id: z.string(),
  name: z.string(),
  scope: keyScope,
  endpoints: z.optional(z.array(z.string())),
  createdAtMs: timestampMs,
  revokedAtMs: z.optional(timestampMs),
});
export type KeyRecord = z.infer<typeof keyRecord>;

/** The key itself is in this answer and nowhere else. */
export const createdKey = z.object({ key: z.string(), record: keyRecord });
export type CreatedKey = z.infer<typeof createdKey>;
