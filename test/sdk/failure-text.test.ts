import { describe, expect, it } from "vitest";
import { failureText } from "../../sdk/failure-text.ts";

describe("failureText", () => {
  it("says what happened, with the code and the end of the log", () => {
    expect(failureText({ code: "reward_failed", message: "boom", logTail: ["a", "b"] })).toBe(
      "boom [reward_failed]\n  | a\n  | b",
    );
    // A log ends with the failure, which is said already.
    for (const last of ["error x: boom", "boom", "error x: bo…"])
      expect(failureText({ code: "x", message: "boom", logTail: ["a", last] })).toBe("boom [x]\n  | a");
    for (const last of ["error x: bang", "error y: boom", "bo", "error x: "])
      expect(failureText({ code: "x", message: "boom", logTail: [last] })).toContain(`  | ${last}`);
    expect(failureText({ code: "x", message: "boom", logTail: [] })).toBe("boom [x]");
    expect(failureText(undefined)).toBe("no reason was recorded.");
  });
});
