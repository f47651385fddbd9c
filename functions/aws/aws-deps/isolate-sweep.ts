import type { Clock, Log } from "../../ports/clock.ts";
import { sweepUnused } from "../lambda-isolates/sweep.ts";
import { isRecent } from "../recent.ts";
import { loadClient, REQUEST_TIMES } from "../load-client.ts";

const HOUR_MS = 3_600_000;

/** What one sweep tells the next, in whichever process. */
export interface IsolateSweepMemory {
  /** When the last one was. */
  atMs: number;
  /** Where it left off. */
  marker?: string;
}

interface IsolateSweepParams {
  stack: string;
  clock: Pick<Clock, "now">;
  log: Pick<Log, "info" | "warn" | "error">;
}

/**
 * Once an hour, deletes functions of user code that nobody loads any more: a share of them, and the next hour the
 * next. In between it costs nothing. For the process that sweeps: it needs nothing of what runs user code.
 */
export async function sweepIsolates(
  { stack, clock, log }: IsolateSweepParams,
  memory: IsolateSweepMemory | undefined,
): Promise<IsolateSweepMemory> {
  const nowMs = clock.now();
  if (memory !== undefined && isRecent(memory.atMs, nowMs, HOUR_MS)) return memory;
  try {
    const { LambdaClient } = await loadClient(
      "@aws-sdk/client-lambda",
      () => import("@aws-sdk/client-lambda"),
    );
    const client = new LambdaClient({ maxAttempts: 1, requestHandler: REQUEST_TIMES });
    const { deleted, failed, marker } = await sweepUnused({
      client,
      stack,
      now: () => clock.now(),
      marker: memory?.marker,
    }).finally(() => client.destroy());
    if (deleted.length > 0) log.info("deleted functions of user code that nobody uses", { deleted });
    if (failed.length > 0) log.warn("functions of user code could not be judged", { failed });
    return { atMs: nowMs, ...(marker !== undefined && { marker }) };
  } catch (error) {
    // The next one comes in an hour, and begins where this one did.
    log.error("the sweep of user code failed", { error });
    return { ...memory, atMs: nowMs };
  }
}
