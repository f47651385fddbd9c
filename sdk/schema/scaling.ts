import * as z from "zod/mini";
import { countUpTo } from "./common.ts";

const WEEK_MS = 7 * 24 * 3_600_000;

function wholeBetween(low: number, high: number) {
  return z.number().check(z.int(), z.gte(low), z.lte(high));
}

/** How many replicas an endpoint has, and how long requests wait for one. Whatever is absent has its default. */
export const scalingSettings = z.strictObject({
  /** Replicas that stay up without any request. 0: it sleeps, and the first request wakes it. Default 1. */
  min: z.optional(wholeBetween(0, 10_000)),
  /** Most replicas at any time, spare ones included. Default 1, or `min` where that is more. */
  max: z.optional(countUpTo(10_000)),
  /** Spare replicas on top of what the load needs, while there is load. Default 0. */
  buffer: z.optional(wholeBetween(0, 10_000)),
  /**
   * Requests that one replica works on at the same time; more wait. Default 32, which is what the embedded
   * engine decodes together.
   */
  targetConcurrency: z.optional(countUpTo(100_000)),
  /** Without a request for this long it goes to sleep, if `min` is 0. Default 5 minutes. */
  idleTimeoutMs: z.optional(wholeBetween(1_000, WEEK_MS)),
  /** The load must have been low for this long before replicas are taken away. Default 5 minutes. */
  scaleDownWindowMs: z.optional(wholeBetween(0, WEEK_MS)),
  /**
   * Longest wait of a request for a replica; then 503 with Retry-After. Requests that do not stream are
   * answered after 280 s in any case: clients give up at 300 s. Default 10 minutes.
   */
  holdMs: z.optional(wholeBetween(0, WEEK_MS)),
  /** Requests that may wait; the next one gets 429. Default 100 for each of `targetConcurrency`. */
  queueLimit: z.optional(countUpTo(10_000_000)),
});
export type ScalingSettings = z.infer<typeof scalingSettings>;

/** Every setting with a value. */
export interface Scaling {
  min: number;
  max: number;
  buffer: number;
  targetConcurrency: number;
  idleTimeoutMs: number;
  scaleDownWindowMs: number;
  holdMs: number;
  queueLimit: number;
}

const DEFAULTS = {
  min: 1,
  max: 1,
  buffer: 0,
  targetConcurrency: 32,
  idleTimeoutMs: 300_000,
  scaleDownWindowMs: 300_000,
  holdMs: 600_000,
};
const QUEUED_PER_TARGET = 100;

/**
 * Settings with all defaults filled in: the one place that knows them.
 *
 * @example
 * scalingOf({ min: 0, targetConcurrency: 4 }).queueLimit; // 400
 */
export function scalingOf(settings: ScalingSettings = {}): Scaling {
  const { min = DEFAULTS.min, targetConcurrency = DEFAULTS.targetConcurrency } = settings;
  return {
    min,
    max: settings.max ?? Math.max(DEFAULTS.max, min),
    buffer: settings.buffer ?? DEFAULTS.buffer,
    targetConcurrency,
    idleTimeoutMs: settings.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
    scaleDownWindowMs: settings.scaleDownWindowMs ?? DEFAULTS.scaleDownWindowMs,
    holdMs: settings.holdMs ?? DEFAULTS.holdMs,
    queueLimit: settings.queueLimit ?? QUEUED_PER_TARGET * targetConcurrency,
  };
}
