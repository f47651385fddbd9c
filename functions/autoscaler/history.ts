import type { Load, Peak, Sample, ScalerState, Service } from "./views.ts";

/** Longest average. */
export const STABLE_MS = 60_000;
/** Without a sample for this long, nobody knows what happened meanwhile. */
const GAP_MS = 10_000;
/** Half of what is known of service times is forgotten in this time. */
const HALF_LIFE_MS = 300_000;
/** Ended requests below which a service time is a guess. */
const MIN_ENDED = 5;

/** The state with one more sample; begun anew after a gap, a jump of the clock, or where there is none. */
export function watched(
  state: ScalerState | undefined,
  load: Load,
  now: number,
  desired: number,
): ScalerState {
  const last = state?.samples.at(-1);
  const isNew = state === undefined || last === undefined || isTorn(last, load, now);
  if (isNew) {
    return {
      watchedSinceMs: now,
      samples: [sampleOf(load, now, 0)],
      // As if the load had needed all of it until now: nothing falls for a whole window.
      peaks: [{ atMs: now, want: desired }],
      panicUntilMs: now,
      service: state?.service ?? { busyMs: 0, ended: 0 },
    };
  }
  const sample = sampleOf(load, now, last.queuedMs + ((last.queued + load.queued) / 2) * (now - last.atMs));
  const samples = now === last.atMs ? state.samples.slice(0, -1) : state.samples;
  return {
    ...state,
    samples: [...since(samples, now - STABLE_MS), sample],
    service: served(state.service, last, sample),
  };
}

/** Averages of the last `windowMs`, or of as much of it as is known. */
export function averages(
  state: ScalerState,
  windowMs: number,
): { inFlight: number; queued: number; perMs: number } {
  const { samples } = state;
  const newest = samples.at(-1);
  if (newest === undefined) return { inFlight: 0, queued: 0, perMs: 0 };
  const from = samples.findLast(({ atMs }) => atMs <= newest.atMs - windowMs) ?? samples[0] ?? newest;
  const ms = newest.atMs - from.atMs;
  if (ms === 0) return { inFlight: newest.inFlight, queued: newest.queued, perMs: 0 };
  const queued = (newest.queuedMs - from.queuedMs) / ms;
  const demand = (newest.demandMs - from.demandMs) / ms;
  return { inFlight: Math.max(0, demand - queued), queued, perMs: (newest.accepted - from.accepted) / ms };
}

/** Mean time that a replica takes for a request; undefined before enough have ended. */
export function serviceMs({ busyMs, ended }: Service): number | undefined {
  return ended < MIN_ENDED ? undefined : busyMs / ended;
}

/** Peaks with one more want: those it covers go, and those out of the window. */
export function withPeak(peaks: readonly Peak[], peak: Peak, windowMs: number): Peak[] {
  return [...peaks.filter(({ atMs, want }) => atMs > peak.atMs - windowMs && want > peak.want), peak];
}

function sampleOf(load: Load, atMs: number, queuedMs: number): Sample {
  const { demandMs, accepted, inFlight, queued } = load;
  return { atMs, demandMs, queuedMs, accepted, inFlight, queued };
}

/** The counters of a gateway that began anew run backwards as well. */
function isTorn(last: Sample, load: Load, now: number): boolean {
  if (now < last.atMs || now - last.atMs > GAP_MS) return true;
  return load.demandMs < last.demandMs || load.accepted < last.accepted;
}

/** One sample at or before the time is kept, so that the whole window is covered. */
function since(samples: readonly Sample[], fromMs: number): readonly Sample[] {
  const first = samples.findLastIndex(({ atMs }) => atMs <= fromMs);
  return first <= 0 ? samples : samples.slice(first);
}

function served(service: Service, last: Sample, sample: Sample): Service {
  const fade = 0.5 ** ((sample.atMs - last.atMs) / HALF_LIFE_MS);
  const busyMs = sample.demandMs - last.demandMs - (sample.queuedMs - last.queuedMs);
  const ended =
    sample.accepted - sample.inFlight - sample.queued - (last.accepted - last.inFlight - last.queued);
  return {
    busyMs: service.busyMs * fade + Math.max(0, busyMs),
    ended: service.ended * fade + Math.max(0, ended),
  };
}
