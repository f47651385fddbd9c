import { describe, expect, it } from "vitest";
import { rewardOutcome } from "../../../sdk/user-code/reward-value.ts";

describe("rewardOutcome", () => {
  it.each([0, -3.5, { score: 1 }, { score: 1, metrics: { a: 2 }, reason: "x" }])("takes %j", (value) => {
    expect(rewardOutcome(value)).toEqual({ value });
  });

  it.each([
    [NaN, "it returned NaN"],
    [-Infinity, "it returned -Infinity"],
    [true, "it returned true; return 1 or 0"],
    ["1", 'it returned the text "1"'],
    [undefined, "it returned nothing (undefined)"],
    [null, "it returned null"],
    [[1, 2, 3], "it returned an array of 3"],
    [1n, "it returned a bigint"],
    [{}, "it returned { score: nothing (undefined) }"],
    [{ score: NaN }, "it returned { score: NaN }"],
    [{ score: 1, points: 2 }, "it returned an object with points"],
    [{ score: 1, reason: 2 }, "its reason is 2"],
    [{ score: 1, metrics: [1] }, "its metrics are an array of 1"],
    [{ score: 1, metrics: { a: NaN } }, 'its metric "a" is NaN'],
  ])("refuses %s and says what it was", (value, message) => {
    const outcome = rewardOutcome(value);
    expect(outcome).toMatchObject({ error: { code: "reward_invalid" } });
    expect("error" in outcome && outcome.error.message).toContain(message);
  });

  it("cuts long reasons", () => {
    const outcome = rewardOutcome({ score: 1, reason: "x".repeat(10_000) });
    expect(outcome).toEqual({ value: { score: 1, reason: "x".repeat(2_000) } });
  });
});
