import { bootstrapMean } from "../../sdk/schema/bootstrap.ts";
import type { Interval } from "../../sdk/schema/eval.ts";
import type { LaunchEval } from "../../sdk/schema/launch-eval.ts";
import type { EvalRow } from "../../sdk/schema/eval-row.ts";
import { passAtK, sampleGroups, type SampleGroup } from "../../sdk/schema/pass-at.ts";
import type { ClusteredValue } from "../../sdk/schema/statistics.ts";

export interface EvalScores {
  /** Rows without a verdict, and those of them that could not be played. */
  missing: number;
  failed: number;
  score?: Interval;
  scores: Record<string, Interval>;
  passes: Record<string, Interval>;
}

type Measured = Pick<LaunchEval, "passAt" | "samplesPerRow" | "passThreshold" | "seed">;

/**
 * Mean total, mean of each reward and pass@k with their intervals, over the rows that have a verdict. Where an eval
 * samples at several temperatures, means are those of the first of them, at which the smallest k is measured.
 */
export function summarize(rows: readonly EvalRow[], spec: Measured): EvalScores {
  const groups = sampleGroups(spec);
  const [first] = groups;
  const own = first === undefined ? rows : rows.filter((row) => isIn(first, row));
  const score = bootstrapMean(totalsOf(own), spec.seed);
  return {
    missing: rows.filter(({ verdict }) => verdict.total === undefined).length,
    failed: rows.filter(({ failure }) => failure !== undefined).length,
    ...(score && { score }),
    scores: rewardMeans(own, spec.seed),
    passes: Object.fromEntries(
      groups.flatMap((group) => passesOf(group, rows, spec)).sort(([a], [b]) => Number(a) - Number(b)),
    ),
  };
}

function rewardMeans(rows: readonly EvalRow[], seed: number): Record<string, Interval> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.verdict.scores)))].sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = rows.flatMap((row) => {
        const score = Object.hasOwn(row.verdict.scores, name) ? row.verdict.scores[name] : undefined;
        return score === undefined ? [] : [{ cluster: row.row, value: score.score }];
      });
      const interval = bootstrapMean(values, seed);
      return interval === undefined ? [] : [[name, interval] as const];
    }),
  );
}

/** Rows with fewer than k verdicts tell nothing about that k. */
function passesOf(
  group: SampleGroup,
  rows: readonly EvalRow[],
  { seed, passThreshold }: Measured,
): [string, Interval][] {
  const totals = totalsByRow(rows.filter((row) => isIn(group, row)));
  return group.ks.flatMap((k) => {
    const interval = bootstrapMean(passValues(totals, k, passThreshold), seed);
    return interval === undefined ? [] : [[String(k), interval]];
  });
}

/** The chance of a row that one of k answers reaches the threshold, by row. */
export function passValues(
  totals: ReadonlyMap<number, readonly number[]>,
  k: number,
  threshold: number,
): ClusteredValue[] {
  return [...totals].flatMap(([cluster, values]) => {
    if (values.length < k) return [];
    const correct = values.filter((value) => value >= threshold).length;
    return [{ cluster, value: passAtK(values.length, correct, k) }];
  });
}

/** Totals of the answers that have one, by row. */
export function totalsByRow(rows: readonly EvalRow[]): Map<number, number[]> {
  const totals = new Map<number, number[]>();
  for (const { cluster, value } of totalsOf(rows)) {
    const before = totals.get(cluster);
    if (before === undefined) totals.set(cluster, [value]);
    else before.push(value);
  }
  return totals;
}

export function isIn({ first, samples }: SampleGroup, { sample }: Pick<EvalRow, "sample">): boolean {
  return sample >= first && sample < first + samples;
}

function totalsOf(rows: readonly EvalRow[]): ClusteredValue[] {
  return rows.flatMap(({ row, verdict: { total } }) =>
    total === undefined ? [] : [{ cluster: row, value: total }],
  );
}
