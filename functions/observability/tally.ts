/** Counts of what is not a request, since this process began. Plain numbers, so that counting costs nothing. */
export interface Tally {
  /** A run got this many steps further. */
  runSteps(kind: string, steps: number): void;
  /** Rewards judged this many rows, and gave no verdict on some of them. */
  rewardRows(rows: number, withoutVerdict: number): void;
  counts(): Readonly<TallyCounts>;
}

export interface TallyCounts {
  stepsByKind: ReadonlyMap<string, number>;
  rowsJudged: number;
  rowsWithoutVerdict: number;
}

export function createTally(): Tally {
  const stepsByKind = new Map<string, number>();
  let rowsJudged = 0;
  let rowsWithoutVerdict = 0;
  return {
    runSteps: (kind, steps) => void stepsByKind.set(kind, (stepsByKind.get(kind) ?? 0) + steps),
    rewardRows(rows, withoutVerdict) {
      rowsJudged += rows - withoutVerdict;
      rowsWithoutVerdict += withoutVerdict;
    },
    counts: () => ({ stepsByKind, rowsJudged, rowsWithoutVerdict }),
  };
}
