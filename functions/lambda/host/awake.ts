/** Longer than any event; a timer takes no more than 2^31 - 1. */
const NEVER_MS = 2_000_000_000;

/**
 * Works on an event without the process coming to its end meanwhile. Timers of the clock let a process end that has
 * nothing else to do, and one that only holds a request has not: Lambda would answer that the runtime exited.
 */
export async function awake<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, NEVER_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
