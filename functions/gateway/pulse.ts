import type { Clock } from "../ports/clock.ts";

/** Has something to look at every second. */
export interface Beating {
  beat(): void;
  /** For the pulse: where it keeps the member; undefined outside of it. */
  pulseIndex?: number | undefined;
}

/** One timer for all requests: thousands of streams would each need their own otherwise. */
export interface Pulse {
  add(member: Beating): void;
  remove(member: Beating): void;
  /** Stops the timer. */
  close(): void;
}

export const BEAT_MS = 1_000;

export function createPulse(clock: Clock): Pulse {
  // Not a Set: V8 makes its table anew after some dozens of changes, and each old table leads to the next. One of
  // them in the old space is enough to carry every later request there, and collecting it takes ten times longer.
  const members: Beating[] = [];
  let cancel: (() => void) | undefined;
  let closed = false;

  function beat(): void {
    cancel = undefined;
    for (const member of [...members]) if (member.pulseIndex !== undefined) member.beat();
    // Without members it stands still until the next one comes.
    if (members.length > 0) start();
  }

  function start(): void {
    if (!closed) cancel ??= clock.after(BEAT_MS, beat);
  }

  return {
    add(member) {
      member.pulseIndex ??= members.push(member) - 1;
      start();
    },
    remove(member) {
      const index = member.pulseIndex;
      if (index === undefined) return;
      member.pulseIndex = undefined;
      const last = members.pop();
      if (last === undefined || last === member) return;
      members[index] = last;
      last.pulseIndex = index;
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
}
