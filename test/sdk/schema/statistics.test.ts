import { describe, expect, it } from "vitest";
import { meanWithInterval, tQuantile975 } from "../../../sdk/schema/statistics.ts";

function plain(values: number[]) {
  return values.map((value, cluster) => ({ value, cluster }));
}

describe("mean with interval", () => {
  it("is the textbook interval for independent values", () => {
    // By hand: sd 0.9471, standard error 0.42356, times t = 2.776 of the table for 4 degrees of freedom.
    const interval = meanWithInterval(plain([2.1, 3.4, 1.9, 4.2, 2.8]));
    expect(interval?.mean).toBeCloseTo(2.88, 9);
    expect(interval?.low).toBeCloseTo(1.704, 2);
    expect(interval?.high).toBeCloseTo(4.056, 2);
    expect(interval?.n).toBe(5);
  });

  it("does not take samples of one row for independent", () => {
    const once = meanWithInterval(plain([0, 1, 0, 1]));
    const thrice = meanWithInterval(
      [0, 1, 0, 1].flatMap((value, cluster) => [1, 2, 3].map(() => ({ value, cluster }))),
    );
    expect(thrice?.n).toBe(12);
    expect(thrice?.low).toBeCloseTo(once?.low ?? NaN, 9);
    expect(thrice?.high).toBeCloseTo(once?.high ?? NaN, 9);
  });

  it("says nothing where there is nothing to say", () => {
    expect(meanWithInterval([])).toBeUndefined();
    expect(meanWithInterval([{ value: 3, cluster: 0 }])).toEqual({ mean: 3, low: 3, high: 3, n: 1 });
  });

  it.each([
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [5, 2.571],
    [10, 2.228],
    [30, 2.042],
    [1000, 1.962],
  ])("knows t for %i degrees of freedom", (freedom, expected) => {
    expect(Math.abs(tQuantile975(freedom) / expected - 1)).toBeLessThan(0.01);
  });
});
