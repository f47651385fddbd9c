import { describe, expect, it } from "vitest";
import { plainScalar, YamlDate } from "../../../../sdk/config/project-folder/yaml-scalar.ts";

/** As PyYAML's safe_load reads each word; its documentation and YAML 1.1 differ in the last group. */
const MEANS: [string, unknown][] = [
  ["", null],
  ["~", null],
  ["null", null],
  ["nULL", "nULL"],
  ["yes", true],
  ["No", false],
  ["ON", true],
  ["off", false],
  ["true", true],
  ["tRue", "tRue"],
  ["4", 4],
  ["+4", 4],
  ["-0", -0],
  ["1_000", 1000],
  ["010", 8],
  ["-010", -8],
  ["08", "08"],
  ["0o10", "0o10"],
  ["0x1F", 31],
  ["0b101", 5],
  ["1:30", 90],
  ["1:30.5", 90.5],
  ["1.", 1],
  [".5", 0.5],
  ["-.5", "-.5"],
  ["1.5e+3", 1500],
  ["1.5e3", "1.5e3"],
  ["1e-4", "1e-4"],
  ["1_0.5", 10.5],
  [".inf", Infinity],
  ["-.INF", -Infinity],
  [".nan", Number.NaN],
  ["y", "y"],
  ["n", "n"],
  ["=", "="],
  ["2024-01-01", new YamlDate("2024-01-01")],
  ["2024-01-01 12:00:00", new YamlDate("2024-01-01 12:00:00")],
  ["2024-1-1", "2024-1-1"],
];

describe("plain words of YAML 1.1", () => {
  it.each(MEANS)("%j means %o", (text, value) => {
    expect(plainScalar(text)).toEqual(value);
  });
});
