import { describe, expect, it } from "vitest";
import { pairs, table } from "../../../../sdk/cli/render/table.ts";
import { ageText, durationText } from "../../../../sdk/cli/render/time.ts";

describe("table", () => {
  it("aligns columns, numbers to the right, colours not counted", () => {
    const rows = [
      ["\x1b[31ma\x1b[39m", 5, ""],
      ["bbb", 10, "x"],
    ];
    expect(table(["N", "SIZE", "END"], rows)).toEqual([
      "N    SIZE  END",
      "\x1b[31ma\x1b[39m       5",
      "bbb    10  x",
    ]);
    expect(table(["N"], [])).toEqual(["N"]);
  });
});

describe("pairs", () => {
  it("leaves out what is not set", () => {
    expect(pairs({ id: 1, longer: "x", gone: undefined })).toEqual(["id      1", "longer  x"]);
  });
});

describe("durationText", () => {
  it.each([
    [850, "850ms"],
    [12_400, "12s"],
    [185_000, "3m 05s"],
    [7_800_000, "2h 10m"],
    [360_000_000, "4d 4h"],
    [-5, "0ms"],
  ])("writes %i ms as %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it("tells ages, never from the future", () => {
    expect(ageText(1_000, 61_000)).toBe("1m 00s ago");
    expect(ageText(9_000, 1_000)).toBe("0ms ago");
  });
});
