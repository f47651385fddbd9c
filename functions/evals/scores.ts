import type { EvalRow, Interval } from "../../sdk/schema/eval.ts";
import { meanWithInterval } from "../../sdk/schema/statistics.ts";

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
      const score = Object.hasOwn(row.verdict.scores, name) ? row.verdict.scores[name] : undefined;
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
