import * as z from "zod/mini";
import { timestampMs } from "./common.ts";
import { webhook } from "./run-parts.ts";

/** A webhook that is told of every run, whatever the run's own spec says. */
export const webhookRecord = z.object({
  v: z.literal(1),
  /** Follows from the URL: setting the same one again replaces it. */
  id: z.string(),
  ...webhook.shape,
  createdAtMs: timestampMs,
});
export type WebhookRecord = z.infer<typeof webhookRecord>;
