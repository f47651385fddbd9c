import { describe, expect, it } from "vitest";
import { failureText } from "../../sdk/failure-text.ts";

describe("failureText", () => {
  it("says what happened, with the code and the end of the log", () => {
    expect(failureText({ code: "reward_failed", message: "boom", logTail: ["a", "b"] })).toBe(
      "boom [reward_failed]\n  | a\n  | b",
    );
    expect(failureText({ code: "x", message: "boom", logTail: [] })).toBe("boom [x]");
    expect(failureText(undefined)).toBe("no reason was recorded.");
  });
});
