/** What one try came to: a value, or an error and whether another try makes sense. */
export type Attempt<T> = { value: T } | { error: Error; retry: boolean; retryAfterMs?: number };

export interface RetryParams {
  /** Tries in all, the first included. */
  maxAttempts: number;
  /** Upper bound of the first wait; doubles with each try, up to 8 s. */
  delayMs: number;
  signal?: AbortSignal | undefined;
}

const MAX_DELAY_MS = 8_000;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Tries until there is a value, an error that no retry mends, or no try left. Waits what the server asked
 * for in Retry-After, else exponentially with jitter, so that many clients do not come back at once.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<Attempt<T>>,
  params: RetryParams,
): Promise<T> {
  for (let number = 1; ; number++) {
    params.signal?.throwIfAborted();
    const result = await attempt(number);
    if ("value" in result) return result.value;
    if (!result.retry || number >= params.maxAttempts) throw result.error;
    await sleep(waitMs(number, params.delayMs, result.retryAfterMs), params.signal);
  }
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Retry-After in milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3). */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function waitMs(number: number, delayMs: number, askedMs: number | undefined): number {
  if (askedMs !== undefined) return Math.min(askedMs, MAX_RETRY_AFTER_MS) * (1 + Math.random() / 10);
  return Math.min(delayMs * 2 ** (number - 1), MAX_DELAY_MS) * (0.5 + Math.random() / 2);
}
