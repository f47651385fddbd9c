import { describe, expect, it } from "vitest";
import { bootstrapMean } from "../../../sdk/schema/bootstrap.ts";
import { meanWithInterval, type ClusteredValue } from "../../../sdk/schema/statistics.ts";

/** Values in (0, 1) by a low-discrepancy sequence. */
function spread(rows: number, perRow = 1): ClusteredValue[] {
  return Array.from({ length: rows * perRow }, (_, index) => ({
    value: (index * 0.618_033_988) % 1,
    cluster: Math.floor(index / perRow),
  }));
}

describe("the bootstrap interval", () => {
  it("agrees with the normal approximation where that holds", () => {
    const drawn = bootstrapMean(spread(400));
    const normal = meanWithInterval(spread(400));
    expect(drawn?.mean).toBe(normal?.mean);
    expect(drawn?.low).toBeCloseTo(normal?.low ?? 0, 2);
    expect(drawn?.high).toBeCloseTo(normal?.high ?? 0, 2);
  });

  it("is the same for the same seed, and another for another", () => {
    expect(bootstrapMean(spread(50), 7)).toEqual(bootstrapMean(spread(50), 7));
    expect(bootstrapMean(spread(50), 7)?.low).not.toBe(bootstrapMean(spread(50), 8)?.low);
  });

  it("draws rows, not answers: the same answer four times over tells nothing new", () => {
    const once = spread(40);
    const four = once.flatMap((each) => [each, each, each, each]);
    expect(bootstrapMean(four)).toMatchObject({ n: 160, low: bootstrapMean(once)?.low });
  });

  it("stays within what was measured, unlike an approximation", () => {
    const rare = Array.from({ length: 20 }, (_, cluster) => ({ value: cluster === 0 ? 1 : 0, cluster }));
    expect(meanWithInterval(rare)?.low).toBeLessThan(0);
    expect(bootstrapMean(rare)).toMatchObject({ mean: 0.05, low: 0 });
  });

  it("covers the true mean about 19 times in 20", () => {
    let covered = 0;
    for (let trial = 0; trial < 200; trial++) {
      const values = Array.from({ length: 60 }, (_, cluster) => {
        const x = Math.sin((trial * 60 + cluster + 1) * 12.9898) * 43_758.5453;
        return { value: x - Math.floor(x), cluster };
      });
      const { low = 0, high = 0 } = bootstrapMean(values, trial) ?? {};
      if (low <= 0.5 && 0.5 <= high) covered++;
    }
    expect(covered / 200).toBeGreaterThan(0.9);
    expect(covered / 200).toBeLessThan(0.99);
  });

  it("is the value itself for a single row, and nothing for none", () => {
    expect(bootstrapMean([{ value: 3, cluster: 0 }])).toEqual({ mean: 3, low: 3, high: 3, n: 1 });
    expect(bootstrapMean([])).toBeUndefined();
  });
});
