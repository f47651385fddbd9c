import type { Counts } from "./views.ts";

/** The counter that an end of this sort goes to, one higher. */
export function countedEnd(
  { losses, preemptions = 0 }: { losses: number; preemptions?: number },
  counts: Counts,
): { losses?: number; preemptions?: number } {
  if (counts === "nothing") return {};
  return counts === "loss" ? { losses: losses + 1 } : { preemptions: preemptions + 1 };
}
