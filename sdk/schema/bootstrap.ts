import type { Interval } from "./eval.ts";
import { meanWithInterval, type ClusteredValue } from "./statistics.ts";

const REPLICATES = 1_000;
/** With more rows the normal approximation says the same, and takes no time. */
const MAX_CLUSTERS = 5_000;

/**
 * Mean with its 95 % interval by the percentile bootstrap: whole clusters (a row with all its answers) are drawn with
 * replacement a thousand times, always in the same way for the same seed. Above 5,000 clusters it is the interval of
 * `meanWithInterval`. With a single cluster nothing is known about the spread, and the interval is the mean itself.
 * No value: `undefined`.
 *
 * @example
 * bootstrapMean([0, 1, 1, 1].map((value, cluster) => ({ value, cluster }))); // { mean: 0.75, low: 0.25, high: 1, n: 4 }
 */
export function bootstrapMean(values: readonly ClusteredValue[], seed = 0): Interval | undefined {
  const byCluster = new Map<number, { sum: number; count: number }>();
  for (const { cluster, value } of values) {
    const before = byCluster.get(cluster);
    if (before === undefined) byCluster.set(cluster, { sum: value, count: 1 });
    else {
      before.sum += value;
      before.count++;
    }
  }
  if (byCluster.size <= 1 || byCluster.size > MAX_CLUSTERS) return meanWithInterval(values);
  const sums = Float64Array.from(byCluster.values(), ({ sum }) => sum);
  const counts = Float64Array.from(byCluster.values(), ({ count }) => count);
  const n = values.length;
  const mean = values.reduce((sum, { value }) => sum + value, 0) / n;
  const means = drawnMeans(sums, counts, seed).sort();
  return { mean, low: quantile(means, 0.025), high: quantile(means, 0.975), n };
}

function drawnMeans(sums: Float64Array, counts: Float64Array, seed: number): Float64Array {
  const next = randomWords(seed);
  const size = sums.length;
  return Float64Array.from({ length: REPLICATES }, () => {
    let sum = 0;
    let count = 0;
    for (let draw = 0; draw < size; draw++) {
      const index = Math.floor((next() / 2 ** 32) * size);
      sum += sums[index] ?? 0;
      count += counts[index] ?? 0;
    }
    return sum / count;
  });
}

/** Between the two nearest, as far from each as it lies. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] ?? 0;
  return low + (place - below) * ((sorted[below + 1] ?? low) - low);
}

/** Words of 32 bits: Weyl steps, each scrambled by the finaliser of MurmurHash3. */
function randomWords(seed: number): () => number {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return (word ^ (word >>> 16)) >>> 0;
  };
}
