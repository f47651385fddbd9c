import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Clock, Log } from "../ports/clock.ts";

/** Does something again and again, each time so long after the last one ended. What it throws is logged. */
export function every(
  { clock, log }: { clock: Pick<Clock, "after">; log: Log },
  ms: number,
  work: () => Promise<void>,
): { stop(): Promise<void> } {
  let isOver = false;
  let running = Promise.resolve();
  let cancel = clock.after(ms, turn);
  // Once for each time that it begins to fail.
  let hasFailed = false;

  function turn(): void {
    running = work()
      .then(
        () => void (hasFailed = false),
        (error: unknown) => {
          if (!hasFailed)
            log.warn("the Store could not be asked", { error: SpotterError.from(error).message });
          hasFailed = true;
        },
      )
      .then(() => {
        if (!isOver) cancel = clock.after(ms, turn);
      });
  }

  return {
    async stop() {
      isOver = true;
      cancel();
      await running;
    },
  };
}
