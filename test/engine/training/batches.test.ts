import { describe, expect, it } from "vitest";
import { createBatches } from "../../../engine/training/batches.ts";

const params = { seed: 7, rows: 10, perStep: 4 };
const batches = createBatches(params);

function steps(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => batches.rowsOfStep(from + index)).flat();
}

describe("rows of a step", () => {
  it("takes every row once an epoch, in another order each", () => {
    const taken = steps(1, 5);
    const [first, second] = [taken.slice(0, 10), taken.slice(10, 20)];
    const all = Array.from({ length: 10 }, (_, index) => index);
    expect([...first].sort((a, b) => a - b)).toEqual(all);
    expect([...second].sort((a, b) => a - b)).toEqual(all);
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(all);
  });

  it("depends on the step alone, and on the seed", () => {
    expect(batches.rowsOfStep(4)).toEqual(steps(1, 4).slice(12, 16));
    expect(createBatches({ ...params, seed: 8 }).rowsOfStep(1)).not.toEqual(batches.rowsOfStep(1));
  });

  it("fills a step larger than the dataset", () => {
    const taken = createBatches({ seed: 1, rows: 3, perStep: 7 }).rowsOfStep(1);
    expect(taken.length).toBe(7);
    expect(new Set(taken).size).toBe(3);
  });

  it("knows the rows a range of steps takes", () => {
    expect(batches.rowsUsed(1, 2)).toEqual([...new Set(steps(1, 2))].sort((a, b) => a - b));
    expect(batches.rowsUsed(1, 50)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
