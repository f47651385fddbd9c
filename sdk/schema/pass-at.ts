import * as z from "zod/mini";
import { countUpTo } from "./common.ts";

/** Answers to one row at most. */
export const MAX_SAMPLES_PER_ROW = 1_024;

/** As chat completions take it; 0 is the likeliest answer. */
export const evalTemperature = z.number().check(z.gte(0), z.lte(4));

/** pass@k: the chance that at least one of `k` answers to a row is right. */
export const passAt = z.strictObject({
  k: countUpTo(MAX_SAMPLES_PER_ROW),
  /** Of the answers that count for this k. Absent: that of `chatOptions`, else 1. */
  temperature: z.optional(evalTemperature),
});
export type PassAt = z.infer<typeof passAt>;

/**
 * What a figure of pass@k is called, with the temperature that its answers were sampled at where it has one of its own.
 *
 * @example
 * passLabel(1, [{ k: 1, temperature: 0 }]); // "pass@1 (temperature 0)"
 */
export function passLabel(k: number | string, passes: readonly PassAt[]): string {
  const temperature = passes.find((each) => each.k === Number(k))?.temperature;
  return `pass@${k}${temperature === undefined ? "" : ` (temperature ${temperature})`}`;
}

/** What of it a run-dependent eval changes for one k. */
export const passChange = z.strictObject({
  k: passAt.shape.k,
  /** Absent: as the eval itself. */
  enabled: z.optional(z.boolean()),
  temperature: passAt.shape.temperature,
});
export type PassChange = z.infer<typeof passChange>;

/** Answers to each row that are sampled alike. */
export interface SampleGroup {
  /** Absent: that of `chatOptions`. */
  temperature?: number;
  /** The k that these answers count for. */
  ks: number[];
  /** Number of the first of them within the row, and how many there are. */
  first: number;
  samples: number;
}

interface Sampled {
  passAt: readonly PassAt[];
  samplesPerRow: number;
}

/**
 * The answers to a row: `samplesPerRow` at each temperature that a k asks for, the smallest k first. At temperature 0
 * all would be the same, so there are only as many as its largest k. Mean and rewards are those of the first group.
 *
 * @example
 * sampleGroups({ passAt: [{ k: 1, temperature: 0 }, { k: 4 }], samplesPerRow: 8 });
 * // [{ temperature: 0, ks: [1], first: 0, samples: 1 }, { ks: [4], first: 1, samples: 8 }]
 */
export function sampleGroups({ passAt: passes, samplesPerRow }: Sampled): SampleGroup[] {
  const sorted = [...passes].sort((a, b) => a.k - b.k);
  const byTemperature = Map.groupBy(sorted, ({ temperature }) => temperature);
  if (byTemperature.size === 0) byTemperature.set(undefined, []);
  let first = 0;
  return [...byTemperature].map(([temperature, group]) => {
    const ks = group.map(({ k }) => k);
    const samples = temperature === 0 ? Math.max(1, ...ks) : Math.max(samplesPerRow, ...ks);
    const made = { ...(temperature !== undefined && { temperature }), ks, first, samples };
    first += samples;
    return made;
  });
}

/** Answers to each row, over all temperatures. */
export function answersPerRow(sampled: Sampled): number {
  return sampleGroups(sampled).reduce((sum, { samples }) => sum + samples, 0);
}

/** What a run-dependent eval measures: what the eval itself does, as far as it is not changed. */
export function changedPasses(passes: readonly PassAt[], changes: readonly PassChange[]): PassAt[] {
  const ks = [...new Set([...passes, ...changes].map(({ k }) => k))].sort((a, b) => a - b);
  return ks.flatMap((k) => {
    const own = passes.find((each) => each.k === k);
    const change = changes.find((each) => each.k === k);
    if (!(change?.enabled ?? own !== undefined)) return [];
    const temperature = change?.temperature ?? own?.temperature;
    return [{ k, ...(temperature !== undefined && { temperature }) }];
  });
}

/**
 * The unbiased estimate of pass@k from `samples` answers of which `correct` were right, `1 - C(n-c, k) / C(n, k)`, as
 * a product, which overflows for no n (arXiv:2107.03374). Needs `samples >= k`.
 *
 * @example
 * passAtK(4, 1, 2); // 0.5
 */
export function passAtK(samples: number, correct: number, k: number): number {
  if (samples - correct < k) return 1;
  let missAll = 1;
  for (let index = 0; index < k; index++) missAll *= (samples - correct - index) / (samples - index);
  return 1 - missAll;
}
