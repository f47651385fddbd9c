/**
 * Knative's pod autoscaler, written from what it does: knative/serving, pkg/autoscaler/scaling/autoscaler.go
 * at 00a4a55cd385 and pkg/autoscaler/aggregation. Its defaults, except that the delay before it scales down
 * and the idle timeout are those that every policy has here.
 *
 * @module
 */
import type { NewPolicy, Observation } from "./policy.ts";

const TICK_MS = 2_000;
const STABLE_S = 60;
const PANIC_S = 6;
const PANIC_THRESHOLD = 2;
const UTILISATION = 0.7;
const MAX_UP_RATE = 1_000;
const MAX_DOWN_RATE = 2;

export const knative: NewPolicy = ({ min, max, target, idleTimeoutS, scaleDownS }) => {
  const buckets: number[] = [];
  const perPod = target * UTILISATION;
  let delayed: { atMs: number; want: number }[] = [];
  let demandMs: number | undefined;
  let lastMs: number | undefined;
  let panicSinceMs: number | undefined;
  let panicPods = 0;
  let isNew = true;

  function record({ load }: Observation): void {
    // Without a scrape there is no bucket, and the counter says nothing of the time between.
    if (load === undefined) return void (demandMs = undefined);
    // Each second is a bucket with its mean concurrency; the activator's queue counts.
    if (demandMs !== undefined) buckets.push((load.demandMs - demandMs) / 1_000);
    else buckets.push(load.inFlight + load.queued);
    demandMs = load.demandMs;
    if (buckets.length > STABLE_S) buckets.shift();
  }

  function scale({ monotonicMs: nowMs, ready: readyPods, desired }: Observation): number {
    const ready = Math.max(1, readyPods);
    const up = Math.ceil(MAX_UP_RATE * ready);
    const down = Math.floor(ready / MAX_DOWN_RATE);
    const stable = Math.ceil(mean(buckets) / perPod);
    const panic = Math.ceil(mean(buckets.slice(-PANIC_S)) / perPod);
    const isOver = panic / ready >= PANIC_THRESHOLD;
    if (isOver) panicSinceMs = nowMs;
    else if (panicSinceMs !== undefined && panicSinceMs + STABLE_S * 1_000 < nowMs) {
      panicSinceMs = undefined;
      panicPods = 0;
    }
    const within = (want: number) => Math.min(up, Math.max(down, want));
    let want = within(stable);
    if (panicSinceMs !== undefined) {
      panicPods = Math.max(panicPods, want, within(panic));
      want = panicPods;
    }
    delayed = [...delayed.filter(({ atMs }) => atMs > nowMs - scaleDownS * 1_000), { atMs: nowMs, want }];
    want = Math.max(...delayed.map((each) => each.want));
    return want === 0 && desired > 0 ? 1 : want;
  }

  return {
    step(observation) {
      const { monotonicMs: nowMs, desired, ready, load } = observation;
      if (isNew && ready > 1) {
        // A controller that restarts begins in panic and keeps what there is.
        panicSinceMs = nowMs;
        panicPods = ready;
      }
      isNew = false;
      record(observation);
      if (load === undefined || (lastMs !== undefined && nowMs - lastMs < TICK_MS)) return desired;
      lastMs = nowMs;
      if (isIdle(observation, idleTimeoutS)) return min;
      return Math.min(max, Math.max(min, scale(observation)));
    },
  };
};

/** The rule that every policy has here: to zero this long after the last request was accepted. */
export function isIdle({ load }: Observation, idleTimeoutS: number): boolean {
  // Everybody looks every two seconds.
  return load !== undefined && load.inFlight + load.queued === 0 && load.idleS > idleTimeoutS + 1;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
