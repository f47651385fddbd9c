import type { Counts } from "./views.ts";

export interface Counters {
  losses: number;
  preemptions?: number;
  /** Attempts for which there was no room, so that another GPU was taken. */
  withoutRoom?: number;
}

/** The counter that an end of this sort goes to, one higher. */
export function countedEnd(
  { losses, preemptions = 0, withoutRoom = 0 }: Counters,
  counts: Counts,
): Partial<Counters> {
  if (counts === "nothing") return {};
  if (counts === "no-room") return { withoutRoom: withoutRoom + 1 };
  return counts === "loss" ? { losses: losses + 1 } : { preemptions: preemptions + 1 };
}
