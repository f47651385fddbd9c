import { describe, expect, it } from "vitest";
import { exampleValue } from "../../../sdk/schema/example-value.ts";
import { schemaFault } from "../../../sdk/schema/schema-fault.ts";

const VERDICT = {
  type: "object",
  properties: {
    score: { type: "integer", enum: [0, 1] },
    clarity: { type: "number", minimum: 1, maximum: 5 },
    words: { type: "array", items: { type: "string" } },
    by: { anyOf: [{ type: "null" }, { type: "object", required: ["name"] }] },
    kind: { const: "verdict" },
  },
  required: ["score"],
  additionalProperties: false,
};

describe("a value and a JSON schema", () => {
  it.each([
    [{ score: 1, clarity: 4.5, words: ["a"], by: null, kind: "verdict" }, undefined],
    [{ score: 0, by: { name: "x" }, more: 1 }, undefined],
    [{}, "score is missing"],
    [JSON.parse('{"__proto__": {"score": 1}}'), "score is missing"],
    [{ score: 7 }, "score is 7, expected 0 or 1"],
    [{ score: "1" }, 'score is "1", expected 0 or 1'],
    [{ score: 1, clarity: "good" }, 'clarity is "good", expected number'],
    [{ score: 1, clarity: 0 }, "clarity is 0, expected 1 or more"],
    [{ score: 1, clarity: 6 }, "clarity is 6, expected 5 or less"],
    [{ score: 1, words: ["a", 2] }, "words.1 is 2, expected string"],
    [{ score: 1, by: {} }, "by is {}, expected one of the forms that the schema allows"],
    [{ score: 1, kind: "x" }, 'kind is "x", expected "verdict"'],
    [[1], "it is [1], expected object"],
    [null, "it is null, expected object"],
  ])("%j", (value: unknown, fault) => {
    expect(schemaFault(value, VERDICT)).toBe(fault);
  });

  it("holds of every example of it, and of anything where it says nothing", () => {
    for (let pick = 0; pick < 5; pick++)
      expect(
        schemaFault(
          exampleValue(VERDICT, (count) => pick % count),
          VERDICT,
        ),
      ).toBeUndefined();
    for (const schema of [undefined, true, {}, { type: 5 }, { pattern: "(a+)+$" }, { allOf: [{}] }])
      expect(schemaFault("a".repeat(40), schema)).toBeUndefined();
    expect(schemaFault(1, { allOf: [{}, { type: "string" }] })).toBe("it is 1, expected string");
  });
});
