import { describe, expect, it } from "vitest";
import { createBatches } from "../../../engine/training/batches.ts";

const all = (count: number) => Array.from({ length: count }, (_, index) => index);
const params = { seed: 7, groups: [{ rows: all(10), ratio: 1 }], perStep: 4 };
const batches = createBatches(params);

function steps(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => batches.rowsOfStep(from + index)).flat();
}

describe("rows of a step", () => {
  it("takes every row once an epoch, in another order each", () => {
    const taken = steps(1, 5);
    const [first, second] = [taken.slice(0, 10), taken.slice(10, 20)];
    expect([...first].sort((a, b) => a - b)).toEqual(all(10));
    expect([...second].sort((a, b) => a - b)).toEqual(all(10));
    expect(first).not.toEqual(second);
    expect(first).not.toEqual(all(10));
  });

  it("depends on the step alone, and on the seed", () => {
    expect(batches.rowsOfStep(4)).toEqual(steps(1, 4).slice(12, 16));
    expect(createBatches({ ...params, seed: 8 }).rowsOfStep(1)).not.toEqual(batches.rowsOfStep(1));
  });

  it("fills a step larger than the dataset", () => {
    const taken = createBatches({ seed: 1, groups: [{ rows: all(3), ratio: 1 }], perStep: 7 }).rowsOfStep(1);
    expect(taken.length).toBe(7);
    expect(new Set(taken).size).toBe(3);
  });

  it("takes rows of several groups in proportion to their ratios, each in epochs of its own (B21)", () => {
    const groups = [
      { rows: [0, 1, 2, 3], ratio: 3 },
      { rows: [4, 5], ratio: 1 },
    ];
    const mixed = createBatches({ seed: 1, groups, perStep: 8 });
    const taken = mixed.rowsOfStep(1);
    expect(taken.filter((row) => row < 4).length).toBe(6);
    expect(new Set(taken)).toEqual(new Set(all(6)));
    expect(createBatches({ seed: 1, groups, perStep: 8 }).rowsOfStep(3)).toEqual(mixed.rowsOfStep(3));
    expect(mixed.rowsUsed(1, 1)).toEqual(all(6));
  });

  it("knows the rows a range of steps takes", () => {
    expect(batches.rowsUsed(1, 2)).toEqual([...new Set(steps(1, 2))].sort((a, b) => a - b));
    expect(batches.rowsUsed(1, 50)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
