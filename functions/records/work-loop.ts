import type { Clock } from "../ports/clock.ts";

export interface WorkLoop {
  /** A pass soon; many calls make one. Within a pass: another one right after it. */
  wake(): void;
  readonly isClosed: boolean;
  /** A pass is under way or asked for. */
  readonly isBusy: boolean;
  /** Resolves when no pass is under way or asked for. */
  settle(): Promise<void>;
  /** The pass that runs is finished, nothing new begins. */
  close(): Promise<void>;
}

/**
 * Does passes one after the other: after each wake, and when the time that the last one told is over.
 *
 * @param pass Resolves to the time in ms until the next; undefined: only a wake makes one.
 * @param failed Told of what a pass throws; gives the time until the next.
 */
export function createWorkLoop(
  clock: Pick<Clock, "after">,
  pass: () => Promise<number | undefined>,
  failed: (error: unknown) => number,
): WorkLoop {
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let cancelTimer = () => {};

  function wake(): void {
    if (closed) return;
    again = true;
    running ??= run().finally(() => {
      running = undefined;
      if (again && !closed) wake();
    });
  }

  async function run(): Promise<void> {
    // Not before the caller has finished what it does.
    await Promise.resolve();
    while (again && !closed) {
      again = false;
      const waitMs = await pass().catch(failed);
      cancelTimer();
      if (waitMs !== undefined && !closed) cancelTimer = clock.after(waitMs, wake);
    }
  }

  return {
    wake,
    get isClosed() {
      return closed;
    },
    get isBusy() {
      return running !== undefined;
    },
    async settle() {
      while (running !== undefined) await running;
    },
    async close() {
      closed = true;
      cancelTimer();
      await running;
      cancelTimer();
    },
  };
}
