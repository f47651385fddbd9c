import type { Load, Peak, Sample, ScalerState, Service } from "./views.ts";

/** Longest average. */
export const STABLE_MS = 60_000;
/** The average that must have been low for a replica to go. */
export const LOW_MS = 30_000;
/** Without a sample for this long, nobody knows what happened meanwhile. */
const GAP_MS = 10_000;
/** Half of what is known of service times is forgotten in this time. */
const HALF_LIFE_MS = 300_000;
/** Before anything has ended, a request is taken to last this long, as if so many had. */
const ASSUMED_SERVICE_MS = 30_000;
const ASSUMED_ENDED = 5;

/** A state that knows nothing yet. What there is stays for a whole window from here. */
export function unwatched(
  now: number,
  desired: number,
  service: Service = { busyMs: 0, ended: 0 },
): ScalerState {
  // No average reaches back behind this time: its peak counts for as long as the window is.
  const peaks = [{ atMs: now + LOW_MS, want: desired }];
  return { watchedSinceMs: now, samples: [], peaks, holdUntilMs: now, service };
}

/** The state with one more sample; begun anew after a gap, a jump of the clock, or where there is none. */
export function watched(
  state: ScalerState | undefined,
  load: Load,
  now: number,
  desired: number,
): ScalerState {
  const { inFlight, queued, accepted, demandMs, busyMs } = load;
  const sample: Sample = { atMs: now, inFlight, queued, accepted, demandMs, busyMs };
  const last = state?.samples.at(-1);
  if (state === undefined || last === undefined || isTorn(last, sample))
    return { ...unwatched(now, desired, state?.service), samples: [sample] };
  return {
    ...state,
    samples: [...state.samples.slice(firstNeeded(state.samples, now - STABLE_MS)), sample],
    service: served(state.service, last, sample),
  };
}

/**
 * Requests that want a slot, on average over the last `windowMs` or as much of it as is known. Who works on
 * all its slots hides how many more requests would come to it; their rate and how long they take do not.
 * `drainMs` is the time in which those that wait should be worked off.
 */
export function needOver(state: ScalerState, windowMs: number, drainMs: number): number {
  const newest = state.samples.at(-1);
  if (newest === undefined) return 0;
  const oldest = state.samples[firstNeeded(state.samples, newest.atMs - windowMs)] ?? newest;
  const ms = newest.atMs - oldest.atMs;
  if (ms === 0) return newest.inFlight + newest.queued;
  const busy = (newest.busyMs - oldest.busyMs) / ms;
  const demand = (newest.demandMs - oldest.demandMs) / ms;
  const queued = demand - busy;
  if (queued <= 0) return busy;
  const arriving = ((newest.accepted - oldest.accepted) / ms) * serviceMs(state.service);
  return Math.min(demand, arriving) + queued * Math.min(1, serviceMs(state.service) / drainMs);
}

/** Peaks with one more want: those that it reaches go, and those out of the window. */
export function withPeak(peaks: readonly Peak[], peak: Peak, windowMs: number): Peak[] {
  return [...peaks.filter(({ atMs, want }) => atMs > peak.atMs - windowMs && want > peak.want), peak];
}

/** Mean time that a replica takes for a request. */
function serviceMs({ busyMs, ended }: Service): number {
  return (busyMs + ASSUMED_SERVICE_MS * ASSUMED_ENDED) / (ended + ASSUMED_ENDED);
}

/** The counters of a gateway that began anew run backwards, as a clock may. */
function isTorn(last: Sample, sample: Sample): boolean {
  if (sample.atMs < last.atMs || sample.atMs - last.atMs > GAP_MS) return true;
  return sample.demandMs < last.demandMs || sample.accepted < last.accepted;
}

/** The last one at or before the time, so that the whole window is covered; else the first there is. */
function firstNeeded(samples: readonly Sample[], fromMs: number): number {
  return Math.max(
    0,
    samples.findLastIndex(({ atMs }) => atMs <= fromMs),
  );
}

function served(service: Service, last: Sample, sample: Sample): Service {
  const fade = 0.5 ** ((sample.atMs - last.atMs) / HALF_LIFE_MS);
  const open = sample.inFlight + sample.queued - (last.inFlight + last.queued);
  return {
    busyMs: service.busyMs * fade + Math.max(0, sample.busyMs - last.busyMs),
    ended: service.ended * fade + Math.max(0, sample.accepted - last.accepted - open),
  };
}
