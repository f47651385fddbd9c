import { describe, expect, it } from "vitest";
import type { EvalRow } from "../../../sdk/schema/eval-row.ts";
import { rowBatches } from "../../../engine/evaluation/row-batches.ts";

function row(index: number, characters: number): EvalRow {
  return {
    row: index,
    sample: 0,
    input: {},
    text: "x".repeat(characters),
    finishReason: "stop",
    tokens: 1,
    verdict: { scores: {}, errors: {} },
  };
}

describe("row batches", () => {
  it("fit the size and keep the order", () => {
    const batches = rowBatches(
      Array.from({ length: 10 }, (_, index) => row(index, 300)),
      1200,
    );
    expect(batches.length).toBeGreaterThan(3);
    for (const batch of batches) expect(JSON.stringify(batch).length).toBeLessThan(1300);
    expect(batches.flat().map((each) => each.row)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("cut long texts and say so", () => {
    const [[cut] = []] = rowBatches([row(0, 1_000_000)]);
    expect(cut?.text.length).toBeLessThan(51_000);
    expect(cut?.text.endsWith("[cut]")).toBe(true);
  });

  it("name a row that fits nowhere", () => {
    const large = { ...row(7, 1), input: { image: "x".repeat(400_000) } };
    expect(() => rowBatches([large])).toThrow(
      expect.objectContaining({ code: "value_too_large", where: "row 7" }),
    );
  });

  it("make nothing of nothing", () => {
    expect(rowBatches([])).toEqual([]);
  });
});
