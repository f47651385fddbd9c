const MINUTE_MS = 60_000;

/**
 * A minute's allowance that refills evenly; `Infinity` is no limit. May fall below zero by what is only known
 * afterwards.
 */
export interface Bucket {
  /** Of the limit that was last asked with. */
  level: number;
  atMs: number;
}

export function fullBucket(perMinute: number, nowMs: number): Bucket {
  return { level: perMinute, atMs: nowMs };
}

/** Adds what flowed in since; a limit that was changed meanwhile counts from now on. */
export function refill(bucket: Bucket, perMinute: number, nowMs: number): void {
  if (perMinute === Infinity) {
    bucket.level = Infinity;
    bucket.atMs = nowMs;
    return;
  }
  const flowed = (Math.max(0, nowMs - bucket.atMs) / MINUTE_MS) * perMinute;
  bucket.level = Math.min(perMinute, bucket.level + flowed);
  bucket.atMs = nowMs;
}

/** Milliseconds until the bucket holds `wanted`; 0 if it does. */
export function msUntil(bucket: Bucket, perMinute: number, wanted: number): number {
  const lacking = Math.min(wanted, perMinute) - bucket.level;
  return lacking <= 0 ? 0 : Math.ceil((lacking / perMinute) * MINUTE_MS);
}
