import type { Interval } from "./eval.ts";

export interface ClusteredValue {
  value: number;
  /** What the value hangs on: samples of the same dataset row are not independent. */
  cluster: number;
}

/**
 * Mean with its 95 % interval by the normal approximation with Student's t. The standard error is the one
 * clustered by dataset row (Miller 2024, arXiv:2411.00640, equation 4) with the usual small-sample factor
 * G/(G-1) for G clusters; with one sample a row it is the plain standard error of the mean. With a single
 * cluster nothing is known about the spread, and the interval is the mean itself. No value: `undefined`.
 *
 * @example
 * meanWithInterval([1, 2, 3].map((value, cluster) => ({ value, cluster })));
 * // { mean: 2, low: -0.48, high: 4.48, n: 3 }
 */
export function meanWithInterval(values: readonly ClusteredValue[]): Interval | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  const mean = values.reduce((sum, { value }) => sum + value, 0) / n;
  const deviations = new Map<number, number>();
  for (const { cluster, value } of values)
    deviations.set(cluster, (deviations.get(cluster) ?? 0) + (value - mean));
  const clusters = deviations.size;
  if (clusters === 1) return { mean, low: mean, high: mean, n };
  const squares = [...deviations.values()].reduce((sum, deviation) => sum + deviation ** 2, 0);
  const standardError = Math.sqrt((clusters / (clusters - 1)) * squares) / n;
  const half = tQuantile975(clusters - 1) * standardError;
  return { mean, low: mean - half, high: mean + half, n };
}

/**
 * 97.5 % quantile of Student's t: tabulated for 1 and 2 degrees of freedom, else the Cornish-Fisher expansion
 * (Abramowitz and Stegun 26.7.5), which is within 1 % from 3 degrees on.
 */
export function tQuantile975(freedom: number): number {
  if (freedom === 1) return 12.706;
  if (freedom === 2) return 4.303;
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + g1 / freedom + g2 / freedom ** 2 + g3 / freedom ** 3;
}
