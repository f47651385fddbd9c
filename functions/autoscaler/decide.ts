/**
 * How many replicas an endpoint should have. Pure: the same state, snapshot, time and settings give the same
 * decision, so that it can be replayed and simulated. What it follows and why is in docs/autoscaling.md.
 *
 * @module
 */
import type { Scaling } from "../../sdk/schema/scaling.ts";
import { LOW_MS, needOver, STABLE_MS, unwatched, watched, withPeak } from "./history.ts";
import type { Decision, Load, Reason, ScalerState, Snapshot } from "./views.ts";

const BURST_MS = 6_000;
/** A burst is a tenth and three standard deviations of a Poisson process above what there is. */
const BURST_SHARE = 1.1;
const BURST_DEVIATIONS = 3;
/** Time in which those that wait should be worked off. */
const DRAIN_MS = 90_000;
/** Fewer than this share do not go: they would soon be started again. */
const LEAST_FALL = 0.18;
const BETWEEN_FALLS_MS = 30_000;

/**
 * The next decision about one endpoint, to be asked for every two seconds, and at once when a request comes
 * to one that sleeps.
 *
 * @example
 * const { desired, nextState } = decide(state, { desired: 1, load }, clock.now(), scalingOf({ min: 0 }));
 */
export function decide(
  state: ScalerState | undefined,
  snapshot: Snapshot,
  now: number,
  config: Scaling,
): Decision {
  const { desired: current, load } = snapshot;
  if (load === undefined)
    return within(config, current, current, "no-data", state ?? unwatched(now, current));
  const seen = watched(state, load, now, current);
  if (isIdle(seen, load, now, config))
    return within(config, current, Math.floor(current / 2), "idle", { ...seen, peaks: [] });

  const { burst, isBurst, want, low, slots } = wants(seen, current, config);
  const windowMs = Math.max(0, config.scaleDownWindowMs - LOW_MS);
  const peaks = withPeak(seen.peaks, { atMs: now, want: low }, windowMs);
  const nextState = { ...seen, peaks, ...(isBurst && { holdUntilMs: now + STABLE_MS }) };

  const isWake = current === 0 && load.inFlight + load.queued > 0;
  const needed = Math.max(withSpare(want, config), isWake ? 1 : 0);
  // Both averages say so: what was busy a minute ago and is not any more needs no help.
  if (needed > current && (burst > slots || isWake)) {
    const raised = Math.min(needed, Math.max(2 * current, current + 4));
    return within(config, current, raised, isWake ? "wake" : isBurst ? "burst" : "load", nextState);
  }
  const held = Math.max(1, withSpare(peaks[0]?.want ?? 0, config));
  const isWorthIt = current - held >= Math.max(1, Math.floor(current * LEAST_FALL));
  if (isWorthIt && now >= nextState.holdUntilMs) {
    const floor = Math.max(Math.floor(current / 2), Math.ceil(load.inFlight / config.targetConcurrency));
    const lowered = Math.min(current, Math.max(held, floor));
    const holdUntilMs = lowered === held ? now + BETWEEN_FALLS_MS : now;
    return within(config, current, lowered, "low-load", { ...nextState, holdUntilMs });
  }
  return within(config, current, current, "steady", nextState);
}

interface Wants {
  /** Slots that the load of the last seconds needs, and whether that is far above what there is. */
  burst: number;
  isBurst: boolean;
  /** Replicas that the load needs now, and those that must not go because of it. Without spare ones. */
  want: number;
  low: number;
  /** Slots of the replicas that the load may count on: those that start are among them, spare ones are not. */
  slots: number;
}

function wants(state: ScalerState, current: number, { buffer, targetConcurrency }: Scaling): Wants {
  const replicasFor = (need: number) => Math.ceil(need / targetConcurrency);
  const burst = needOver(state, BURST_MS, DRAIN_MS);
  const stable = needOver(state, STABLE_MS, DRAIN_MS);
  const slots = Math.max(0, current - buffer) * targetConcurrency;
  const least = Math.max(slots, targetConcurrency);
  const isBurst = burst > Math.max(least * BURST_SHARE, least + BURST_DEVIATIONS * Math.sqrt(least));
  const want = replicasFor(isBurst ? Math.max(burst, stable) : stable);
  const low = isBurst ? want : replicasFor(needOver(state, LOW_MS, DRAIN_MS));
  return { burst, isBurst, want, low, slots };
}

function withSpare(want: number, { buffer }: Scaling): number {
  return want > 0 ? want + buffer : 0;
}

/** The time counts from the last request that was accepted, and from no other event. */
function isIdle(state: ScalerState, load: Load, now: number, config: Scaling): boolean {
  if (config.min > 0 || load.inFlight + load.queued > 0) return false;
  const sinceMs = Math.max(load.lastAcceptedAtMs ?? 0, state.watchedSinceMs);
  return now - sinceMs > config.idleTimeoutMs;
}

function within(
  { min, max }: Scaling,
  current: number,
  wanted: number,
  why: Reason,
  nextState: ScalerState,
): Decision {
  const desired = Math.min(max, Math.max(min, wanted));
  if (desired === current) return { desired, reason: why === "no-data" ? why : "steady", nextState };
  return { desired, reason: desired === wanted ? why : "bounds", nextState };
}
