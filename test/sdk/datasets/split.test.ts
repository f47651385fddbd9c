import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needsCount, parseSplit, rangeOf, type SplitPart } from "../../../sdk/datasets/split.ts";

function range(text: string, count: number): [number, number] {
  return rangeOf(parseSplit(text)[0] as SplitPart, count);
}

describe("a split", () => {
  it.each([
    ["train", 15, [0, 15]],
    ["train[:10]", 15, [0, 10]],
    ["train[10:15]", 12, [10, 12]],
    ["train[-3:]", 15, [12, 15]],
    ["train[:-3]", 15, [0, 12]],
    ["train[-99:2]", 15, [0, 2]],
    ["train[5:2]", 15, [5, 5]],
    ["train[10%:20%]", 999, [100, 200]],
    ["train[-10%:]", 15, [13, 15]],
    // Python's round: 2.5 → 2, 7.5 → 8
    ["train[:50%]", 5, [0, 2]],
    ["train[50%:]", 15, [8, 15]],
    ["train[:25%]", 10, [0, 2]],
  ])("%s of %i rows is %j", (text, count, expected) => {
    expect(range(text, count)).toEqual(expected);
  });

  it("may be a sum of parts", () => {
    expect(parseSplit("train[10:15] + test").map(({ split }) => split)).toEqual(["train", "test"]);
    expect(parseSplit("a[:1]+a[-1:]+a[:1%]").map(needsCount)).toEqual([false, true, true]);
  });

  it.each([
    "",
    "train[",
    "train[1]",
    "train[1:2:3]",
    "train[a:b]",
    "train[10:20%]",
    "train[:101%]",
    "a++b",
    "a b",
  ])("%j is refused", (text) => {
    expect(() => parseSplit(text)).toThrow(
      expect.objectContaining({ code: "invalid_input", where: "split" }),
    );
  });

  it("cuts by percent without losing or doubling a row, whatever the number of rows", () => {
    const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), bounds, (count, cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), 100];
        const ranges = edges.slice(1).map((to, index) => range(`train[${edges[index]}%:${to}%]`, count));
        expect(ranges[0]?.[0]).toBe(0);
        expect(ranges.at(-1)?.[1]).toBe(count);
        for (const [index, [from, to]] of ranges.entries()) {
          expect(from).toBeLessThanOrEqual(to);
          if (index > 0) expect(from).toBe(ranges[index - 1]?.[1]);
          const exact = ((edges[index + 1] ?? 0) * count) / 100;
          expect(Math.abs(to - exact)).toBeLessThanOrEqual(0.5);
        }
      }),
    );
  });

  it("cuts by rows as arrays do", () => {
    const bound = fc.option(fc.integer({ min: -50, max: 50 }), { nil: undefined });
    fc.assert(
      fc.property(fc.nat({ max: 40 }), bound, bound, (count, from, to) => {
        const all = Array.from({ length: count }, (_, index) => index);
        const [start, end] = range(`train[${from ?? ""}:${to ?? ""}]`, count);
        expect(all.slice(start, end)).toEqual(all.slice(from, to));
      }),
    );
  });
});
