import type { Retention } from "../../sdk/schema/cleanup.ts";

export interface Kept {
  step: number;
  pinned: boolean;
}

/**
 * The checkpoints of a run that its retention lets go. Pinned ones stay and do not count. Where nothing is said
 * all stay, and of those kept every so many steps the last one stays too; a run that goes on keeps its last one in any case, because it may have to begin there again.
 */
export function expiredSteps(
  checkpoints: readonly Kept[],
  { keepLast, keepEvery }: Retention,
  isLive: boolean,
): number[] {
  if (keepLast === undefined && keepEvery === undefined) return [];
  const steps = checkpoints.filter(({ pinned }) => !pinned).map(({ step }) => step);
  const newestFirst = steps.toSorted((a, b) => b - a);
  const last = new Set(newestFirst.slice(0, Math.max(keepLast ?? 1, isLive ? 1 : 0)));
  return steps.filter((step) => !last.has(step) && (keepEvery === undefined || step % keepEvery !== 0));
}
