import { passAtK } from "../../../schema/pass-at.ts";

export { passAtK };

/** What a test's rollouts come down to. */
export interface Summary {
  rollouts: number;
  /** Rollouts that could not be played. */
  failed: number;
  /** Played rollouts that a reward gave no verdict on; they count in no mean, and never as 0. */
  invalid: number;
  /** Of the totals that there are; null where there is none. */
  mean: number | null;
  /** Of a sample (n - 1); null with fewer than two totals. */
  standardDeviation: number | null;
  /** `pass@k` by k: the chance that at least one of k answers is right, over rows; right is a total of `threshold`. */
  passAt: Record<string, number>;
  threshold: number;
  /** Rows that were answered more than once, with a total each time. */
  groups: number;
  /** Of those, rows whose totals are all the same: a group-relative training learns nothing from them. */
  zeroVarianceGroups: number;
}

export interface Outcome {
  entry: number;
  /** Absent: no verdict. */
  total?: number | undefined;
  isFailed: boolean;
  /** Whether anything judges it at all. */
  isJudged: boolean;
}

/** @param threshold From which total on an answer is right. */
export function summaryOf(outcomes: readonly Outcome[], threshold: number): Summary {
  const totals = outcomes.flatMap(({ total }) => total ?? []);
  const rows = [...Map.groupBy(outcomes, ({ entry }) => entry).values()].map((group) =>
    group.flatMap(({ total }) => total ?? []),
  );
  const groups = rows.filter((each) => each.length > 1);
  return {
    rollouts: outcomes.length,
    failed: outcomes.filter(({ isFailed }) => isFailed).length,
    invalid: outcomes.filter(({ isFailed, isJudged, total }) => !isFailed && isJudged && total === undefined)
      .length,
    mean: totals.length === 0 ? null : meanOf(totals),
    standardDeviation: deviationOf(totals),
    passAt: passesOf(rows, threshold),
    threshold,
    groups: groups.length,
    zeroVarianceGroups: groups.filter((each) => each.every((total) => total === each[0])).length,
  };
}

/** For 1, 2, 4, 8 and so on, as far as there are answers; rows with fewer than k verdicts are left out of that k. */
function passesOf(rows: readonly (readonly number[])[], threshold: number): Record<string, number> {
  const most = Math.max(0, ...rows.map((each) => each.length));
  const passes: Record<string, number> = {};
  for (let k = 1; k <= most; k *= 2) {
    const counted = rows.filter((totals) => totals.length >= k);
    const estimates = counted.map((totals) => {
      const correct = totals.filter((total) => total >= threshold).length;
      return passAtK(totals.length, correct, k);
    });
    passes[k] = meanOf(estimates);
  }
  return passes;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviationOf(values: readonly number[]): number | null {
  if (values.length < 2) return null;
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
