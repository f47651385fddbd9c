import type { EvalRow, Interval } from "../../sdk/schema/eval.ts";

export interface EvalScores {
  missing: number;
  score?: Interval;
  scores: Record<string, Interval>;
}

/** Mean total and mean of each reward, over the rows that have a verdict. */
export function summarize(rows: readonly EvalRow[]): EvalScores {
  const judged = rows.filter((row) => row.verdict.total !== undefined);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.verdict.scores)))].sort();
  const scores: Record<string, Interval> = {};
  for (const name of names) {
    const values = rows.flatMap((row) => {
      const score = row.verdict.scores[name];
      return score === undefined ? [] : [{ cluster: row.row, value: score.score }];
    });
    const interval = meanWithInterval(values);
    if (interval) scores[name] = interval;
  }
  const score = meanWithInterval(
    judged.flatMap(({ row, verdict: { total } }) =>
      total === undefined ? [] : [{ cluster: row, value: total }],
    ),
  );
  return { missing: rows.length - judged.length, ...(score && { score }), scores };
}

/**
 * Mean with a 95 % interval by Student's t. Samples of the same dataset row are not independent, so the
 * standard error is the one clustered by row (Miller 2024, arXiv:2411.00640, equation 4). With a single row
 * nothing is known about the spread between rows and the interval is the mean itself.
 */
export function meanWithInterval(
  values: readonly { cluster: number; value: number }[],
): Interval | undefined {
  const n = values.length;
  if (n === 0) return undefined;
  const mean = values.reduce((sum, { value }) => sum + value, 0) / n;
  const byCluster = new Map<number, number>();
  for (const { cluster, value } of values)
    byCluster.set(cluster, (byCluster.get(cluster) ?? 0) + (value - mean));
  const clusters = byCluster.size;
  if (clusters === 1) return { mean, low: mean, high: mean, n };
  const squares = [...byCluster.values()].reduce((sum, deviation) => sum + deviation ** 2, 0);
  const standardError = Math.sqrt((clusters / (clusters - 1)) * squares) / n;
  const half = tQuantile975(clusters - 1) * standardError;
  return { mean, low: mean - half, high: mean + half, n };
}

/** 97.5 % quantile of Student's t: exact for 1 and 2 degrees of freedom, else the Cornish-Fisher expansion. */
function tQuantile975(freedom: number): number {
  if (freedom === 1) return 12.706;
  if (freedom === 2) return 4.303;
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + g1 / freedom + g2 / freedom ** 2 + g3 / freedom ** 3;
}
