import { setTimeout as delay } from "node:timers/promises";

/** Time and chance, injected so that tests wait on neither. */
export interface Pace {
  now(): number;
  /** Rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

export const realPace: Pace = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? undefined : { signal });
    } catch {
      signal?.throwIfAborted();
    }
  },
  random: () => Math.random(),
};
