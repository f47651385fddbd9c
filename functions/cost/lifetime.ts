const HOUR_MS = 3_600_000;
/** Whoever is asked to end gets this long before the home ends it by force. */
const GRACE_MS = 10 * 60_000;
/** No container that nobody limits lives for longer than this on a home that costs money. */
export const DEFAULT_LIFETIME_MS = 7 * 24 * HOUR_MS;

export interface LifetimeParams {
  /** The longest life of any container here. */
  longestMs: number | undefined;
  /** How long its owner may still work or serve. */
  leftMs?: number | undefined;
  /** What it may still cost, and what an hour costs. */
  usdLeft?: number | undefined;
  hourlyUsd: number;
}

/**
 * When a home has to end a container by itself, whether or not the control plane is there to ask for it. The
 * control plane asks earlier; this is what holds when it is away. Undefined: nothing limits it.
 */
export function lifetimeMs({ longestMs, leftMs, usdLeft, hourlyUsd }: LifetimeParams): number | undefined {
  const limits = [
    longestMs,
    leftMs === undefined ? undefined : Math.max(0, leftMs) + GRACE_MS,
    usdLeft === undefined || hourlyUsd <= 0 ? undefined : (Math.max(0, usdLeft) / hourlyUsd) * HOUR_MS,
  ].filter((limit) => limit !== undefined);
  // A container needs a moment to find out that it has none.
  return limits.length === 0 ? undefined : Math.max(60_000, Math.round(Math.min(...limits)));
}
