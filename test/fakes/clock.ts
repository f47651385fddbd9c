import type { Clock } from "../../functions/ports/clock.ts";

export interface FakeClock extends Clock {
  /** Moves time on and calls back everything that falls due, in order. */
  advance(ms: number): void;
  /** Callbacks that wait. */
  readonly pending: number;
}

/** Time that stands still until it is told to move. */
export function fakeClock(startMs = 1_000_000): FakeClock {
  let nowMs = startMs;
  let timers: { atMs: number; callback: () => void }[] = [];
  return {
    now: () => nowMs,
    after(ms, callback) {
      const timer = { atMs: nowMs + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const next = timers.filter((each) => each.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        nowMs = next.atMs;
        timers = timers.filter((each) => each !== next);
        next.callback();
      }
      nowMs = untilMs;
    },
    get pending() {
      return timers.length;
    },
  };
}
