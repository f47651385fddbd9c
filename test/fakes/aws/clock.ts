import type { Clock } from "../../../functions/ports/clock.ts";

export interface FakeAwsClock extends Clock {
  /**
   * Moves virtual time on and lets everything happen that falls due, in order. Resolves when what it set off has
   * settled too (starts and exits of containers are promises). Not for `auto`, where time moves by itself.
   */
  advance(ms: number): Promise<void>;
  /** Advances in steps until `reached` says so; fails after `withinMs` of virtual time. */
  until(reached: () => boolean | Promise<boolean>, withinMs?: number, stepMs?: number): Promise<void>;
  close(): void;
}

interface Timer {
  atMs: number;
  order: number;
  callback: () => void;
}

/** Requests to the fake: virtual time waits for those that its passing sets off. */
export interface Traffic {
  inFlight: number;
  served: number;
}

const quietTurns = 8;
/** A handler may itself wait for time to pass: it is not waited for without end. */
const mostTurns = 400;

/** Turns the event loop until promises and requests that wait for nothing but each other have come to rest. */
async function settle(traffic: Traffic): Promise<void> {
  let quiet = 0;
  for (let turn = 0; turn < mostTurns && quiet < quietTurns; turn++) {
    const { served } = traffic;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = traffic.inFlight > 0 || traffic.served !== served ? 0 : quiet + 1;
  }
}

export function virtualClock(startMs: number, traffic: Traffic): FakeAwsClock {
  let nowMs = startMs;
  let order = 0;
  const timers = new Set<Timer>();

  function nextBefore(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.atMs > untilMs) continue;
      if (first === undefined || timer.atMs < first.atMs) first = timer;
      else if (timer.atMs === first.atMs && timer.order < first.order) first = timer;
    }
    return first;
  }

  const clock: FakeAwsClock = {
    now: () => nowMs,
    after(ms, callback) {
      const timer = { atMs: nowMs + ms, order: order++, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle(traffic);
      for (let next = nextBefore(untilMs); next !== undefined; next = nextBefore(untilMs)) {
        nowMs = Math.max(nowMs, next.atMs);
        timers.delete(next);
        next.callback();
        await settle(traffic);
      }
      nowMs = untilMs;
    },
    async until(reached, withinMs = 3_600_000, stepMs = 500) {
      const endMs = nowMs + withinMs;
      while (!(await reached())) {
        if (nowMs >= endMs) throw new Error(`not reached within ${withinMs} ms of virtual time`);
        await clock.advance(stepMs);
      }
    },
    close: () => timers.clear(),
  };
  return clock;
}

/** Time that runs with the machine's, for tests with real processes. */
export function realClock(): FakeAwsClock {
  const pending = new Set<NodeJS.Timeout>();
  const clock: FakeAwsClock = {
    now: () => Date.now(),
    after(ms, callback) {
      const timer = setTimeout(() => {
        pending.delete(timer);
        callback();
      }, ms);
      timer.unref();
      pending.add(timer);
      return () => {
        clearTimeout(timer);
        pending.delete(timer);
      };
    },
    advance: async () => {
      throw new Error("auto time moves by itself: wait for what should happen instead");
    },
    async until(reached, withinMs = 30_000, stepMs = 20) {
      const endMs = Date.now() + withinMs;
      while (!(await reached())) {
        if (Date.now() >= endMs) throw new Error(`not reached within ${withinMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, stepMs));
      }
    },
    close() {
      for (const timer of pending) clearTimeout(timer);
      pending.clear();
    },
  };
  return clock;
}
