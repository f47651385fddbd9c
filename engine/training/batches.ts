import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { seedOf } from "./seeds.ts";

export interface BatchPlan {
  seed: number;
  /** Rows of the dataset. */
  rows: number;
  /** Rows a step takes. */
  perStep: number;
}

/**
 * Which rows step `step` (from 1) takes: each epoch is a shuffle of its own, and steps take the epochs end to
 * end. The answer depends on nothing but the plan and the step, so a resumed run needs no cursor.
 */
export function rowsOfStep({ seed, rows, perStep }: BatchPlan, step: number): number[] {
  const first = (step - 1) * perStep;
  const picked: number[] = [];
  let order: number[] = [];
  let epoch = -1;
  for (let at = first; at < first + perStep; at++) {
    if (Math.floor(at / rows) !== epoch) {
      epoch = Math.floor(at / rows);
      order = shuffled(rows, seedOf(seed, "epoch", epoch));
    }
    picked.push(order[at % rows] ?? 0);
  }
  return picked;
}

/** Every row some step from `firstStep` to `lastStep` takes, ascending. */
export function rowsUsed(plan: BatchPlan, firstStep: number, lastStep: number): number[] {
  if ((lastStep - firstStep + 1) * plan.perStep >= 2 * plan.rows)
    return Array.from({ length: plan.rows }, (_, index) => index);
  const used = new Set<number>();
  for (let step = firstStep; step <= lastStep; step++)
    for (const row of rowsOfStep(plan, step)) used.add(row);
  return [...used].sort((a, b) => a - b);
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
