import { expect, it } from "vitest";
import { exampleValue } from "../../../sdk/schema/example-value.ts";

it.each([
  [{ type: "string" }, "example"],
  [{ type: "integer", minimum: 7 }, 7],
  [{ type: ["boolean", "null"] }, true],
  [{ type: "string", enum: ["m", "km"] }, "m"],
  [{ type: "string", default: "en" }, "en"],
  [{ type: "string", examples: ["Rome"] }, "Rome"],
  [{ const: null }, null],
  [{ anyOf: [{ type: "null" }, { type: "string" }] }, null],
  [{ type: "array", items: { type: "number" }, minItems: 1 }, [1]],
  [{ type: "array", items: { type: "number" } }, []],
  [{ type: "array", items: { type: "number" }, minItems: 2 }, [1, 1]],
  [
    {
      type: "object",
      properties: { a: { type: "object", properties: { b: { type: "string" } }, required: ["b"] }, c: {} },
      required: ["a"],
    },
    { a: { b: "example" } },
  ],
  [{ type: "object" }, {}],
  ["no schema", {}],
])("makes an example of %j", (schema, example) => {
  expect(exampleValue(schema)).toEqual(example);
});

it.each([
  [{ enum: ["a", "b", "c"] }, 3, "c"],
  [{ type: "integer", minimum: 2, maximum: 5 }, 4, 5],
  [{ type: "boolean" }, 2, false],
  [{ anyOf: [{ type: "null" }, { const: 7 }] }, 2, 7],
])("leaves the choice that %j has to whoever picks", (schema, count, last) => {
  const counts: number[] = [];
  const value = exampleValue(schema, (of) => {
    counts.push(of);
    return of - 1;
  });
  expect([value, counts]).toEqual([last, [count]]);
});
