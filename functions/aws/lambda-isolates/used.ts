const DAY_MS = 86_400_000;

/** The day a function was last loaded, on the function itself: nothing else has to be kept in step with it. */
export const USED_TAG = "spotter:used";

export function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}

/** Whether it was not loaded on any of the last `days` days; what has no such tag counts as just made. */
export function isUnused(tags: Record<string, string>, nowMs: number, days: number): boolean {
  const used = tags[USED_TAG];
  return used !== undefined && used < dayOf(nowMs - days * DAY_MS);
}
