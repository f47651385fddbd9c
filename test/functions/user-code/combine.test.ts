import { describe, expect, it } from "vitest";
import { combineVerdict } from "../../../functions/user-code/combine.ts";
import type { UserCodeExport } from "../../../sdk/schema/user-code.ts";

const plain = (name: string, weight?: number): UserCodeExport => ({ name, kind: "reward", weight });
const gate = (name: string): UserCodeExport => ({ name, kind: "reward", precondition: true, weight: 1 });
const failed = { error: { code: "reward_failed", message: "it threw Error: no" } };

describe("combineVerdict", () => {
  it.each([
    ["one reward, weight 1 by default", [plain("a")], [{ value: -3 }], -3],
    ["the sum of weight times score", [plain("a", 2), plain("b", 0.5)], [{ value: 3 }, { value: 4 }], 8],
    ["an object's score", [plain("a", 2)], [{ value: { score: 3 } }], 6],
    ["a negative weight", [plain("a", -1)], [{ value: 3 }], -3],
    [
      "a precondition that holds counts like any reward",
      [gate("g"), plain("a")],
      [{ value: 1 }, { value: 2 }],
      3,
    ],
    ["a precondition at 0 makes it 0", [gate("g"), plain("a")], [{ value: 0 }, { value: 2 }], 0],
    ["so does one at minus 0", [gate("g"), plain("a")], [{ value: -0 }, { value: 2 }], 0],
    ["a plain reward at 0 does not", [plain("z"), plain("a")], [{ value: 0 }, { value: 2 }], 2],
    ["no total where a reward failed", [plain("a"), plain("b")], [failed, { value: 2 }], undefined],
    [
      "nor where one failed beside a precondition at 0",
      [gate("g"), plain("b")],
      [{ value: 0 }, failed],
      undefined,
    ],
    ["nor without a result", [plain("a"), plain("b")], [{ value: 1 }], undefined],
    ["nor without any reward", [], [], undefined],
  ])("%s", (_, rewards, results, total) => {
    const verdict = combineVerdict(rewards, results);
    expect(verdict.total).toBe(total);
    expect("total" in verdict).toBe(total !== undefined);
  });

  it.each([
    ["text", "5"],
    ["null, which is what JSON makes of NaN", null],
    ["an array", [1, 2]],
    ["an object without a score", { metrics: {} }],
    ["a score that is text", { score: "1" }],
    ["a metric that is text", { score: 1, metrics: { a: "1" } }],
    ["an unknown key", { score: 1, note: "x" }],
  ])("does not believe an isolate that answers %s", (_, value) => {
    const verdict = combineVerdict([plain("a")], [{ value }]);
    expect(verdict.errors["a"]?.code).toBe("reward_invalid");
    expect(verdict.errors["a"]?.message).toMatch(/^a: /);
    expect(verdict.scores).toEqual({});
  });

  it("finds nothing under a name that every object has", () => {
    const { scores, errors } = combineVerdict([plain("a")], [{ value: 1 }]);
    for (const name of ["constructor", "toString", "__proto__"])
      expect([scores[name], errors[name]]).toEqual([undefined, undefined]);
  });

  it.each([
    ["a score", plain("a"), 1e300, "a: it returned 1e+300; a score is at most 1000000 and at least -1000000"],
    ["a score below", plain("a"), { score: -1e7 }, "a: it returned -10000000; a score is at most"],
    ["a weighted score", plain("a", 1e300), 2, "a: its weight times its score is 2e+300"],
    ["a weight that overflows", plain("a", 1e308), 1e6, "a: its weight times its score is Infinity"],
  ])("gives no verdict where %s is too large", (_, reward, value, message) => {
    const verdict = combineVerdict([reward, plain("b")], [{ value }, { value: 1e6 }]);
    expect(verdict.total).toBeUndefined();
    expect(verdict.errors["a"]).toMatchObject({ code: "reward_invalid" });
    expect(verdict.errors["a"]?.message).toContain(message);
    expect(Object.keys(verdict.scores)).toEqual(["b"]);
  });

  it("keeps reasons, metrics, weights, and the cause of what is missing", () => {
    const value = { score: 1, reason: "three lines", metrics: { lines: 3 } };
    expect(combineVerdict([plain("a", 2), plain("b")], [{ value }, failed])).toEqual({
      scores: { a: { ...value, weight: 2, precondition: false } },
      errors: { b: { code: "reward_failed", message: "b: it threw Error: no" } },
    });
  });
});
