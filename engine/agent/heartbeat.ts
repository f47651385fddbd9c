import * as z from "zod/mini";
import { jobHeartbeatReply } from "../../sdk/schema/job.ts";
import type { Pace } from "./pace.ts";

export interface HeartbeatParams {
  everyMs: number;
  /** Sends one beat and returns the raw answer; retries by itself while the control plane is away. */
  send: () => Promise<unknown>;
  onCancel: () => void;
  /** The beat failed for good. */
  onError: (error: unknown) => void;
  pace: Pace;
  signal: AbortSignal;
}

/**
 * Beats until the signal is aborted, on a timer of its own: work that takes long between two reports
 * must not look like a dead container. The promise resolves when the last beat is over.
 */
export async function beat({
  everyMs,
  send,
  onCancel,
  onError,
  pace,
  signal,
}: HeartbeatParams): Promise<void> {
  try {
    while (!signal.aborted) {
      const reply = z.parse(jobHeartbeatReply, await send());
      if (reply.cancel) onCancel();
      await pace.sleep(everyMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) onError(error);
  }
}
