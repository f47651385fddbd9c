import { timerMs } from "../../sdk/schema/timer-ms.ts";
import type { Clock } from "../ports/clock.ts";

/** The machine's clock. Timers never keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    after(ms, callback) {
      const timer = setTimeout(callback, timerMs(ms)).unref();
      return () => clearTimeout(timer);
    },
  };
}
