/** The longest a timer can wait: a longer time overflows and would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A time as `setTimeout` and `AbortSignal.timeout` can take it: at most 24.8 days.
 *
 * @example
 * setTimeout(end, timerMs(limits.durationMs));
 */
export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_MS);
}
