import { beforeEach } from "vitest";

/** When the long tests must be over, by the wall clock; set by scripts/test.ts. */
export function longDeadlineMs(): number {
  return Number(process.env.SPOTTER_LONG_UNTIL_MS || Infinity);
}

export function isOverTime(): boolean {
  return Date.now() > longDeadlineMs();
}

// On a machine that is too slow for them they fail, each at once, instead of going on for an hour.
beforeEach(() => {
  if (isOverTime()) throw new Error("The time of the long tests is over before this one could begin.");
});
