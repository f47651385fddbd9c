import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Shared } from "../deps.ts";
import type { Clock, Log } from "../ports/clock.ts";

/** What is needed to keep up with other processes. */
export interface Sharing {
  shared: Shared;
  clock: Clock;
  log: Log;
}

/** Keeps a copy of records in memory, for those who must not wait for the Store. */
export interface Follower {
  /** Resolves when the copy may be used. */
  load(): Promise<void>;
  /**
   * For something that is not in the copy: reads what was written until now. However many ask, the Store hears of
   * it a few times a second. A Store that is away leaves what was known last.
   */
  lookAgain(): Promise<void>;
  /** Reads no more in the background. */
  close(): void;
}

export const FOLLOW_EVERY_MS = 1_000;
const LOOK_AGAIN_EVERY_MS = 250;
/** As long as the longest hold: whoever waits looks at the copy, not at the Store. */
const IN_USE_MS = 600_000;

/**
 * Without `sharing` the copy is read once: all writers are in this process and keep it current. With it, it is read
 * again every second while it is in use; a function also reads it at each `load`. A Store that is away leaves what
 * was known last.
 */
export function createFollower(read: () => Promise<void>, sharing?: Sharing): Follower {
  return sharing === undefined ? once(read) : following(read, sharing);
}

function once(read: () => Promise<void>): Follower {
  let loading: Promise<void> | undefined;
  let isLoaded = false;
  return {
    async load() {
      if (isLoaded) return;
      try {
        await (loading ??= read());
        isLoaded = true;
      } finally {
        // A Store that was away at the first request must not lock the door for good.
        loading = undefined;
      }
    },
    lookAgain: () => Promise.resolve(),
    close: () => undefined,
  };
}

function following(read: () => Promise<void>, { shared, clock, log }: Sharing): Follower {
  let usedAtMs = clock.now();
  let isLoaded = false;
  let isAway = false;
  let closed = false;
  let cancelTimer: (() => void) | undefined;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let looking: Promise<void> | undefined;
  let lookedAtMs = -Infinity;

  async function readNow(): Promise<void> {
    try {
      await read();
      isLoaded = true;
      isAway = false;
    } catch (error) {
      // Once, not every second.
      if (!isAway) log.warn("records could not be read again", { error: SpotterError.from(error).message });
      isAway = true;
      throw error;
    } finally {
      reading = undefined;
    }
  }

  /** One that was begun before may miss what was written since, so it is not good enough. */
  function readFromNow(): Promise<void> {
    return (next ??= (async () => {
      await reading?.catch(() => undefined);
      next = undefined;
      await (reading ??= readNow());
    })());
  }

  async function look(): Promise<void> {
    const waitMs = lookedAtMs + LOOK_AGAIN_EVERY_MS - clock.now();
    // Awaited in any case: `looking` is set when this has returned.
    await new Promise<void>((resolve) => (waitMs > 0 ? clock.after(waitMs, resolve) : resolve()));
    // From here on somebody who asks may mean what is written later.
    looking = undefined;
    lookedAtMs = clock.now();
    await readFromNow().catch(() => undefined);
  }

  function schedule(): void {
    if (!closed) cancelTimer ??= clock.after(FOLLOW_EVERY_MS, tick);
  }

  function tick(): void {
    if (clock.now() - usedAtMs > IN_USE_MS) {
      cancelTimer = undefined;
      return;
    }
    void (reading ??= readNow())
      .catch(() => undefined)
      .finally(() => {
        cancelTimer = undefined;
        schedule();
      });
  }

  return {
    async load() {
      usedAtMs = clock.now();
      const isCurrent = isLoaded && cancelTimer !== undefined;
      schedule();
      if (shared.readsAtUse) return readFromNow();
      if (isCurrent) return;
      try {
        await (reading ??= readNow());
      } catch (error) {
        if (!isLoaded) throw error;
      }
    },
    lookAgain: () => (shared.readsAtUse ? Promise.resolve() : (looking ??= look())),
    close() {
      closed = true;
      cancelTimer?.();
    },
  };
}
