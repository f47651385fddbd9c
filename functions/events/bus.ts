import type { Clock } from "../ports/clock.ts";

/**
 * Wakes whoever waits for news on a topic of this process. Carries no data: the Store is the truth. News of other
 * processes show there alone, so where there are any, everybody looks once a second.
 */
export interface Bus {
  notify(topic: string): void;
  /** Starts listening at once, so that news between a read and the wait is not missed. */
  listen(topic: string): Listener;
}

export interface Listener {
  /**
   * Resolves true at the first news since the last call (or since `listen`), or when it is time to look whether
   * there are any; false after `timeoutMs` or on abort.
   */
  next(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Hears of news on every topic. */
export const ANY_TOPIC = "*";

/** Between two looks for what other processes wrote. */
export const LOOK_EVERY_MS = 1_000;

/** @param lookEveryMs Where other processes write too. Default: nobody else does. */
export function createBus(clock: Clock, lookEveryMs = Infinity): Bus {
  const topics = new Map<string, Set<() => void>>();
  return {
    notify(topic) {
      for (const wake of [...(topics.get(topic) ?? []), ...(topics.get(ANY_TOPIC) ?? [])]) wake();
    },
    listen(topic) {
      let news = false;
      let closed = false;
      let resume: ((hasNews: boolean) => void) | undefined;
      const wake = () => {
        news = true;
        resume?.(true);
      };
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners.add(wake));
      return {
        async next(timeoutMs, signal) {
          const waitMs = Math.min(timeoutMs, lookEveryMs);
          if (!news && signal?.aborted !== true && timeoutMs > 0)
            await wait(clock, waitMs, signal, (set) => (resume = set));
          resume = undefined;
          const isTime = waitMs < timeoutMs && signal?.aborted !== true && !closed;
          const had = news || isTime;
          news = false;
          return had;
        },
        close() {
          closed = true;
          resume?.(false);
          listeners.delete(wake);
          if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic);
        },
      };
    },
  };
}

function wait(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  onStart: (resume: (hasNews: boolean) => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(timeoutMs, done);
    signal?.addEventListener("abort", done, { once: true });
    onStart(done);
  });
}
