import type { Clock } from "../ports/clock.ts";

/** Has something to look at every second. */
export interface Beating {
  beat(): void;
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
  const members = new Set<Beating>();
  let cancel: (() => void) | undefined;
  let closed = false;

  function beat(): void {
    cancel = undefined;
    for (const member of members) member.beat();
    // Without members it stands still until the next one comes.
    if (members.size > 0) start();
  }

  function start(): void {
    if (!closed) cancel ??= clock.after(BEAT_MS, beat);
  }

  return {
    add(member) {
      members.add(member);
      start();
    },
    remove: (member) => void members.delete(member),
    close() {
      closed = true;
      cancel?.();
    },
  };
}
