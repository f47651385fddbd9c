import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Pace } from "./pace.ts";

/** Thrown by an attempt that may work later. */
export class RetryLater extends Error {
  readonly afterMs: number | undefined;
  /** How often this kind of failure is worth another attempt; Infinity while the other side is away. */
  readonly atMost: number;

  constructor(
    message: string,
    params: { afterMs?: number | undefined; atMost?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: params.cause });
    this.name = "RetryLater";
    this.afterMs = params.afterMs;
    this.atMost = params.atMost ?? Infinity;
  }
}

export interface RetryParams {
  pace: Pace;
  /** Gives up with `daemon_unreachable` when attempts have failed for this long. */
  giveUpAfterMs: number;
  signal: AbortSignal;
  baseDelayMs?: number;
  maxDelayMs?: number;
}

/**
 * Repeats `attempt` while it throws {@link RetryLater}, with exponential backoff and full jitter
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). Other errors pass through.
 */
export async function withRetry<T>(
  what: string,
  attempt: () => Promise<T>,
  { pace, giveUpAfterMs, signal, baseDelayMs = 200, maxDelayMs = 10_000 }: RetryParams,
): Promise<T> {
  const startedAt = pace.now();
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RetryLater)) throw error;
      if (failures >= error.atMost) throw error.cause instanceof Error ? error.cause : error;
      const ceiling = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 20));
      const waitMs = error.afterMs ?? Math.max(baseDelayMs / 2, ceiling * pace.random());
      if (pace.now() - startedAt + waitMs > giveUpAfterMs) throw gaveUp(what, giveUpAfterMs, error);
      await pace.sleep(waitMs, signal);
    }
  }
}

function gaveUp(what: string, giveUpAfterMs: number, error: RetryLater): SpotterError {
  return new SpotterError(
    "daemon_unreachable",
    `${what} failed for ${Math.round(giveUpAfterMs / 1000)} s: ${error.message}`,
    { hint: "Start the control plane again; the work goes on from its last checkpoint.", cause: error.cause },
  );
}
