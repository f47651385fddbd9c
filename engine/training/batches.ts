import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { seedOf } from "./seeds.ts";

export interface BatchesParams {
  seed: number;
  /** Rows of the dataset. */
  rows: number;
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
 * Each epoch is a shuffle of its own, and steps take the epochs end to end. What a step takes depends on
 * nothing but the parameters and the step, so a resumed run needs no cursor.
 *
 * @example
 * createBatches({ seed: 0, rows: 100, perStep: 16 }).rowsOfStep(7); // wraps into the second epoch
 */
export function createBatches({ seed, rows, perStep }: BatchesParams): Batches {
  let shuffledEpoch = -1;
  let order: number[] = [];

  function rowAt(position: number): number {
    const epoch = Math.floor(position / rows);
    if (epoch !== shuffledEpoch) {
      order = shuffled(rows, seedOf(seed, "epoch", epoch));
      shuffledEpoch = epoch;
    }
    return order[position % rows] ?? 0;
  }

  function rowsOfStep(step: number): number[] {
    return Array.from({ length: perStep }, (_, offset) => rowAt((step - 1) * perStep + offset));
  }

  function rowsUsed(firstStep: number, lastStep: number): number[] {
    const used = new Set<number>();
    for (let step = firstStep; step <= lastStep && used.size < rows; step++)
      for (const row of rowsOfStep(step)) used.add(row);
    return [...used].sort((a, b) => a - b);
  }

  return { rowsOfStep, rowsUsed };
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
