/**
 * How many replicas an endpoint should have. Pure: the same state, snapshot, time and settings give the same
 * decision, so that it can be replayed and simulated. What it follows and why is in docs/autoscaling.md.
 *
 * @module
 */
import type { Scaling } from "../../sdk/schema/scaling.ts";
import { averages, serviceMs, STABLE_MS, watched, withPeak } from "./history.ts";
import type { Decision, Reason, ScalerState, Snapshot } from "./views.ts";

const BURST_MS = 6_000;
/** Share of the target that is planned for; the rest is for what comes unevenly. */
const UTILISATION = 0.8;
/** Time in which a queue should be worked off. */
const DRAIN_MS = 30_000;

export function decide(
  state: ScalerState | undefined,
  snapshot: Snapshot,
  now: number,
  config: Scaling,
): Decision {
  const { desired: current, load } = snapshot;
  if (load === undefined) {
    const nextState = state ?? blind(now);
    const desired = clamp(current, config.min, config.max);
    return { desired, reason: desired === current ? "no-data" : "bounds", nextState };
  }
  const seen = watched(state, load, now, current);
  const waiting = load.inFlight + load.queued;
  if (isIdle(seen, snapshot, now, config)) {
    const desired = Math.max(config.min, Math.floor(current / 2));
    return { desired, reason: desired === current ? "steady" : "idle", nextState: { ...seen, peaks: [] } };
  }
  const wants = wantsOf(seen, config);
  const isBurst = wants.burst >= 2 * Math.max(1, snapshot.ready);
  const panicUntilMs = isBurst ? now + STABLE_MS : seen.panicUntilMs;
  const isPanicking = now < panicUntilMs;
  const want = isPanicking ? Math.max(wants.stable, wants.burst) : wants.stable;
  const peaks = withPeak(seen.peaks, { atMs: now, want }, config.scaleDownWindowMs);
  const nextState = { ...seen, peaks, panicUntilMs };
  const isAwake = current > 0 || waiting > 0;
  let target = Math.max(want, isAwake ? 1 : 0, Math.ceil(load.inFlight / config.targetConcurrency));
  if (isAwake && target > 0) target += config.buffer;
  let desired = current;
  let reason: Reason = "steady";
  if (target > current) {
    desired = Math.min(target, Math.max(2 * current, current + 4));
    reason = current === 0 ? "wake" : isBurst ? "burst" : "load";
  } else {
    const held = (peaks[0]?.want ?? 0) + config.buffer;
    if (held < current && !isPanicking) {
      desired = Math.max(held, target, Math.floor(current / 2));
      reason = "low-load";
    }
  }
  return bounded(desired, reason, current, config, nextState);
}

function wantsOf(state: ScalerState, { targetConcurrency }: Scaling): { stable: number; burst: number } {
  const known = serviceMs(state.service);
  const weight = known === undefined ? 1 : Math.min(1, known / DRAIN_MS);
  const need = (windowMs: number) => {
    const { inFlight, queued, perMs } = averages(state, windowMs);
    // A full replica hides how many more would come to it; the rate at which they come does not.
    const steady = queued > 0 && known !== undefined ? Math.max(inFlight, perMs * known) : inFlight;
    return steady + queued * weight;
  };
  return {
    stable: Math.ceil(need(STABLE_MS) / (targetConcurrency * UTILISATION)),
    burst: Math.ceil(need(BURST_MS) / targetConcurrency),
  };
}

/** The time counts from the last request that was accepted, and from no other event. */
function isIdle(state: ScalerState, { load }: Snapshot, now: number, config: Scaling): boolean {
  if (load === undefined || config.min > 0 || load.inFlight + load.queued > 0) return false;
  const sinceMs = Math.max(load.lastAcceptedAtMs ?? 0, state.watchedSinceMs);
  return now - sinceMs > config.idleTimeoutMs;
}

function bounded(
  desired: number,
  reason: Reason,
  current: number,
  { min, max }: Scaling,
  nextState: ScalerState,
): Decision {
  const inside = clamp(desired, min, max);
  if (inside === current) return { desired: inside, reason: "steady", nextState };
  return { desired: inside, reason: inside === desired ? reason : "bounds", nextState };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function blind(now: number): ScalerState {
  return { watchedSinceMs: now, samples: [], peaks: [], panicUntilMs: now, service: { busyMs: 0, ended: 0 } };
}
