export interface OracleParams {
  /** Slots in use in each second if nobody waits. */
  concurrency: Float64Array;
  /** Requests that arrive in each second: the idle timeout counts from the last one, as for everybody. */
  counts: Int32Array;
  slots: number;
  coldStartS: number;
  idleTimeoutS: number;
  /** Replicas that are up at the start. */
  initial: number;
  /** It may not sleep below this many. */
  min: number;
}

/**
 * GPU-seconds of somebody who knows the future: each replica is started so early that nobody waits, and is
 * stopped whenever that is cheaper than to keep it until it is needed again. A start costs its cold start; the
 * last replica stays for the idle timeout after the last request has come, as for everybody.
 */
export function oracleGpuSeconds(params: OracleParams): number {
  const { concurrency, counts, slots, coldStartS, idleTimeoutS, initial, min } = params;
  /** End of the last time each replica was needed; undefined before its first. */
  const neededUntil: (number | undefined)[] = Array.from({ length: initial }, () => 0);
  let cost = 0;
  let before = 0;
  let idleFrom = idleTimeoutS;
  for (const [second, level] of concurrency.entries()) {
    const needed = Math.max(min, Math.ceil(level / slots - 1e-9));
    for (let replica = needed; replica < before; replica++) neededUntil[replica] = second;
    for (let replica = before; replica < needed; replica++) {
      const since = neededUntil[replica];
      const gap = since === undefined ? Number.POSITIVE_INFINITY : second - since;
      const idleS = replica === 0 && since !== undefined ? Math.max(0, idleFrom - since) : 0;
      cost += Math.min(gap, idleS + coldStartS);
    }
    if ((counts[second] ?? 0) > 0) idleFrom = second + idleTimeoutS;
    cost += needed;
    before = needed;
  }
  const last = neededUntil[0];
  if (before === 0 && last !== undefined) cost += Math.max(0, Math.min(idleFrom, concurrency.length) - last);
  return cost;
}
