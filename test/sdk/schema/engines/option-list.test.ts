import { describe, expect, it } from "vitest";
import { optionFaults, optionName, toArgv } from "../../../../sdk/schema/engines/option-list.ts";

describe("options of an engine", () => {
  const list = {
    sources: ["engine 1"],
    options: {
      "on-off": { kind: "flag" },
      both: { kind: "switch" },
      "max-len": { kind: "value", type: "int" },
      rate: { kind: "value", type: "float" },
      many: { kind: "values" },
    },
  };

  it("are named in any spelling, and written as their kind demands", () => {
    expect(["maxLen", "max_len", "--max-len", "adamBeta1"].map(optionName)).toEqual([
      "max-len",
      "max-len",
      "max-len",
      "adam-beta1",
    ]);
    expect(toArgv(list, { onOff: false, both: false, maxLen: 3, many: ["a", 2] })).toEqual([
      "--no-both",
      "--max-len",
      "3",
      "--many",
      "a",
      "2",
    ]);
    expect(toArgv(list, { onOff: true, both: true })).toEqual(["--on-off", "--both"]);
  });

  it("are refused with what is wrong", () => {
    const told = optionFaults(list, { maxLen: 1.5, rate: "x", both: "yes", many: ["a"], on: true });
    expect(told.map(({ message }) => message)).toEqual([
      "maxLen must be a whole number",
      "rate must be a number",
      "both is on or off: give true or false",
      "on is no option of engine 1",
    ]);
  });
});
