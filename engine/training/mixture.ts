import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { EnvironmentSetup } from "../../sdk/schema/run-spec.ts";

/** Rows that are drawn together, and how often in relation to the other groups. */
export interface RowGroup {
  rows: number[];
  ratio: number;
}

/**
 * The rows of a dataset by the environment whose tasks they are. Ratios are relative; an environment without tasks is
 * left out, and the others take its place. Rows of no environment count as one with ratio 1.
 */
export function rowGroups(
  rows: readonly DatasetRow[],
  environments: readonly Pick<EnvironmentSetup, "name" | "ratio">[] = [],
): RowGroup[] {
  const byName = Map.groupBy(rows.keys(), (index) => rows[index]?.environment);
  return [...byName].map(([name, indexes]) => ({
    rows: indexes,
    ratio: environments.find((each) => each.name === name)?.ratio ?? 1,
  }));
}

/** Which group each draw is of, and how many of that group came before it. */
export interface Mixture {
  at(position: number): { group: number; nth: number };
}

/**
 * Draws groups in proportion to their ratios as evenly as can be: each draw is of the group that is furthest behind
 * its share. The sequence hangs on the ratios alone, so a resumed run needs no cursor.
 *
 * @example
 * createMixture([2, 1]); // groups 0, 1, 0, 0, 1, 0, ...
 */
export function createMixture(ratios: readonly number[]): Mixture {
  const total = ratios.reduce((sum, ratio) => sum + ratio, 0);
  const drawn = ratios.map(() => 0);
  const known: { group: number; nth: number }[] = [];

  function next(): { group: number; nth: number } {
    const behind = ratios.map((ratio, group) => (ratio / total) * (known.length + 1) - (drawn[group] ?? 0));
    const group = behind.indexOf(Math.max(...behind));
    const nth = drawn[group] ?? 0;
    drawn[group] = nth + 1;
    return { group, nth };
  }

  return {
    at(position) {
      while (known.length <= position) known.push(next());
      return known[position] ?? { group: 0, nth: 0 };
    },
  };
}
