import type { Random } from "./random.ts";

/** Requests by the second of their arrival. The same one is given to every policy. */
export interface Workload {
  seconds: number;
  /** Requests that arrive in each second. */
  counts: Int32Array;
  /** Requests that have arrived before each second; one more entry than `counts`. */
  before: Float64Array;
  /** How long each request keeps its slot, in seconds, in the order of arrival. */
  durations: Float32Array;
}

export interface WorkloadParams {
  seconds: number;
  /** Requests a second at a time. */
  rate: (second: number) => number;
  /** Service time in seconds. */
  duration: (random: Random) => number;
  random: Random;
}

/** Arrivals as a Poisson process whose rate changes with time. */
export function workloadOf({ seconds, rate, duration, random }: WorkloadParams): Workload {
  return fromCounts(
    Int32Array.from({ length: seconds }, (_, second) => random.poisson(rate(second))),
    () => duration(random),
  );
}

export function fromCounts(counts: Int32Array, duration: () => number): Workload {
  const before = new Float64Array(counts.length + 1);
  for (const [second, count] of counts.entries()) before[second + 1] = (before[second] ?? 0) + count;
  const durations = new Float32Array(before[counts.length] ?? 0);
  for (let index = 0; index < durations.length; index++) durations[index] = duration();
  return { seconds: counts.length, counts, before, durations };
}

/** Slots in use in each second if every request starts when it arrives. */
export function concurrencyOf({ seconds, counts, durations }: Workload): Float64Array {
  const change = new Float64Array(seconds + 2);
  const short = new Float64Array(seconds);
  let index = 0;
  for (let second = 0; second < seconds; second++) {
    for (let left = counts[second] ?? 0; left > 0; left--, index++) {
      const duration = durations[index] ?? 0;
      if (duration < SHORT_S) short[second] = (short[second] ?? 0) + duration;
      else {
        const end = Math.min(seconds + 1, second + wholeSeconds(duration));
        change[second] = (change[second] ?? 0) + 1;
        change[end] = (change[end] ?? 0) - 1;
      }
    }
  }
  const concurrency = new Float64Array(seconds);
  for (let second = 0, now = 0; second < seconds; second++) {
    now += change[second] ?? 0;
    concurrency[second] = now + (short[second] ?? 0);
  }
  return concurrency;
}

/** Shorter ones begin and end within a second; longer ones are rounded to whole seconds. */
export const SHORT_S = 0.5;

export function wholeSeconds(duration: number): number {
  return Math.max(1, Math.round(duration));
}
