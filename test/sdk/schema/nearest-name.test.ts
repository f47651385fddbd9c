import { describe, expect, it } from "vitest";
import { nearestName } from "../../../sdk/schema/nearest-name.ts";

describe("nearestName", () => {
  const names = ["learningRate", "steps", "saveEvery", "input"];

  it.each([
    ["learning_rate", "learningRate"],
    ["LearnignRate", "learningRate"],
    ["step", "steps"],
    ["inptu", "input"],
    ["save-evry", "saveEvery"],
  ])("takes %s for %s", (written, meant) => {
    expect(nearestName(written, names)).toBe(meant);
  });

  it.each(["x", "temperature", "stairs", ""])("does not guess what %j means", (written) => {
    expect(nearestName(written, names)).toBeUndefined();
  });
});
