const HOUR_MS = 3_600_000;
/** Whoever is asked to end gets this long before the home ends it by force. */
const GRACE_MS = 10 * 60_000;
/** The same where money is over: what it costs is at most a tenth more, or two minutes. */
const MIN_GRACE_MS = 2 * 60_000;
const GRACE_SHARE = 0.1;
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
    usdLeft === undefined || hourlyUsd <= 0
      ? undefined
      : withGrace((Math.max(0, usdLeft) / hourlyUsd) * HOUR_MS),
  ].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.round(Math.min(...limits));
}

function withGrace(ms: number): number {
  return ms + Math.max(MIN_GRACE_MS, Math.min(GRACE_MS, ms * GRACE_SHARE));
}
