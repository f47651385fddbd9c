import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { createMixture, type RowGroup } from "./mixture.ts";
import { seedOf } from "./seeds.ts";

export interface BatchesParams {
  seed: number;
  /** The dataset's rows; of several groups, in proportion to their ratios. */
  groups: readonly RowGroup[];
  /** Rows a step takes. */
  perStep: number;
}

/** Which rows each step takes. */
export interface Batches {
  /** Steps count from 1. */
  rowsOfStep(step: number): number[];
  /** Every row some step from `firstStep` to `lastStep` takes, ascending. */
  rowsUsed(firstStep: number, lastStep: number): number[];
}

/**
 * Each epoch of a group is a shuffle of its own, and steps take the epochs end to end. What a step takes depends on
 * nothing but the parameters and the step, so a resumed run needs no cursor.
 *
 * @example
 * const batches = createBatches({ seed: 0, groups: [{ rows: [0, 1, 2], ratio: 1 }], perStep: 2 });
 * batches.rowsOfStep(2); // wraps into the second epoch
 */
export function createBatches({ seed, groups, perStep }: BatchesParams): Batches {
  const size = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const mixture = createMixture(groups.map(({ ratio }) => ratio));
  const epochs = groups.map(({ rows }, group) => createEpochs(rows, seed, group));

  function rowAt(position: number): number {
    // A single group needs no list of what came before.
    const { group, nth } = groups.length === 1 ? { group: 0, nth: position } : mixture.at(position);
    return epochs[group]?.rowAt(nth) ?? 0;
  }

  function rowsOfStep(step: number): number[] {
    return Array.from({ length: perStep }, (_, offset) => rowAt((step - 1) * perStep + offset));
  }

  function rowsUsed(firstStep: number, lastStep: number): number[] {
    const used = new Set<number>();
    for (let step = firstStep; step <= lastStep && used.size < size; step++)
      for (const row of rowsOfStep(step)) used.add(row);
    return [...used].sort((a, b) => a - b);
  }

  return { rowsOfStep, rowsUsed };
}

/** The rows of a group, shuffled anew for each epoch. */
function createEpochs(rows: readonly number[], seed: number, group: number): { rowAt(nth: number): number } {
  let shuffledEpoch = -1;
  let order: number[] = [];
  return {
    rowAt(nth) {
      const epoch = Math.floor(nth / rows.length);
      if (epoch !== shuffledEpoch) {
        // The first group's epochs are those of a run without environments.
        const parts = group === 0 ? [epoch] : [epoch, group];
        order = shuffled(rows.length, seedOf(seed, "epoch", ...parts));
        shuffledEpoch = epoch;
      }
      return rows[order[nth % rows.length] ?? 0] ?? 0;
    },
  };
}

/** Fisher-Yates. */
function shuffled(length: number, seed: number): number[] {
  const order = Array.from({ length }, (_, index) => index);
  const generator = xoroshiro128plus(seed);
  for (let last = length - 1; last > 0; last--) {
    const other = uniformInt(generator, 0, last);
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}
