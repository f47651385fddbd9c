import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Acceptor, type AcceptorState } from "../../../../engine/onnx/sample/constraint/acceptor.ts";
import { JSON_RULES } from "../../../../engine/onnx/sample/constraint/json-grammar.ts";
import { RequestError } from "../../../../engine/serve/request-error.ts";
import { SchemaGrammar } from "../../../../engine/serve/output/schema-grammar.ts";

function accepting(schema: unknown): (text: string) => boolean {
  const grammar = new SchemaGrammar(schema, "schema", "s/");
  const acceptor = new Acceptor({ root: grammar.node(), rules: { ...JSON_RULES, ...grammar.rules } });
  return (text) => {
    let at: AcceptorState | undefined = acceptor.start;
    for (const byte of new TextEncoder().encode(text)) at = at && acceptor.next(at, byte);
    return at?.accepts ?? false;
  };
}

function refusal(schema: unknown): RequestError {
  try {
    new SchemaGrammar(schema, "schema", "s/").node();
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
  throw new Error("the schema was taken");
}

const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

describe("a schema's grammar", () => {
  it.each<[string, unknown, unknown[], unknown[]]>([
    ["anything", {}, [1, "x", { a: [null] }], []],
    ["no type", { description: "what you like" }, [1, []], []],
    ["null", { type: "null" }, [null], [0, false]],
    ["a boolean", { type: "boolean", title: "Yes?" }, [true, false], [1, "true"]],
    ["a string", { type: "string", format: "date" }, ["", 'é"\\\n\u0007', "🍁"], [1]],
    ["a short string", { type: "string", minLength: 1, maxLength: 3 }, ["é", "a🍁c", '"\n\\'], ["", "abcd"]],
    ["a long string", { type: "string", minLength: 3 }, ["abc", "abcdef"], ["ab"]],
    ["an integer", { type: "integer" }, [0, -12, 999_999_999_999_999], [1.5, "1", 1e15]],
    ["a count", { type: "integer", minimum: 0 }, [0, 7], [-1]],
    ["a positive integer", { type: "integer", exclusiveMinimum: 0 }, [1, 90], [0, -1]],
    ["a rating", { type: "integer", minimum: 1, maximum: 5 }, [1, 5], [0, 6, 10]],
    ["a small range", { type: "integer", exclusiveMinimum: -2.5, exclusiveMaximum: 1 }, [-2, 0], [-3, 1]],
    [
      "an integer as zod writes it",
      { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
      [0, -5],
      [0.5],
    ],
    ["a number", { type: "number" }, [0, -1.25, 1234.000001], ["1", null]],
    ["a number from 0", { type: "number", minimum: 0 }, [0, 2.5], [-1]],
    ["one of some", { enum: ["a", 1, null, true] }, ["a", 1, null, true], ["b", 2]],
    ["one of some strings", { type: "string", enum: ["C", "F"] }, ["C"], ["K"]],
    ["one value", { const: "x" }, ["x"], ["y"]],
    ["either", { anyOf: [{ type: "integer" }, { type: "null" }] }, [3, null], ["3"]],
    ["several types", { type: ["string", "null"], maxLength: 2 }, ["ab", null], ["abc", 1]],
    ["a list", { type: "array", items: { type: "integer" } }, [[], [1], [1, 2, 3]], [["a"], 1]],
    ["any list", { type: "array" }, [[], [1, "a", {}]], [{}]],
    ["three", { type: "array", minItems: 3, maxItems: 3 }, [[1, 2, 3]], [[], [1, 2], [1, 2, 3, 4]]],
    ["at most two", { type: "array", maxItems: 2 }, [[], [1], [1, 2]], [[1, 2, 3]]],
    ["one or more", { type: "array", minItems: 1 }, [[1], [1, 2, 3, 4]], [[]]],
    ["none", { type: "array", maxItems: 0 }, [[]], [[1]]],
    ["any object", { type: "object" }, [{}, { a: 1, b: [] }], [[], 1]],
    ["a map", { type: "object", additionalProperties: { type: "number" } }, [{}, { x: 1 }], [{ x: "1" }]],
    [
      "a record as zod writes it",
      { type: "object", propertyNames: { type: "string" }, additionalProperties: {} },
      [{ a: [] }],
      [1],
    ],
    ["an empty object", { type: "object", additionalProperties: false }, [{}], [{ a: 1 }]],
    [
      "required members",
      object(
        { a: { type: "integer" }, 'b"': { type: "string" } },
        { required: ["a", 'b"'], additionalProperties: false },
      ),
      [{ a: 1, 'b"': "x" }],
      [{}, { a: 1 }, { 'b"': "x" }, { a: 1, 'b"': "x", c: 1 }, { 'b"': "x", a: 1 }],
    ],
    [
      "members that may be there",
      object({ a: {}, b: {}, c: {} }, { required: ["b"] }),
      [{ b: 1 }, { a: 1, b: 2 }, { b: 2, c: 3 }, { a: 1, b: 2, c: 3 }],
      [{}, { a: 1 }, { c: 1 }, { a: 1, c: 1 }],
    ],
    ["only such members", object({ a: {}, b: {} }), [{}, { a: 1 }, { b: 1 }, { a: 1, b: 1 }], [{ c: 1 }]],
    [
      "itself within itself",
      {
        $ref: "#/$defs/Node",
        $defs: {
          Node: object(
            { next: { anyOf: [{ $ref: "#/$defs/Node" }, { type: "null" }] } },
            { required: ["next"] },
          ),
        },
      },
      [{ next: null }, { next: { next: { next: null } } }],
      [{}, { next: 1 }],
    ],
  ])("takes %s and nothing else", (_, schema, good, bad) => {
    const accepts = accepting(schema);
    for (const value of good) {
      expect(accepts(JSON.stringify(value))).toBe(true);
      expect(accepts(JSON.stringify(value, null, 2))).toBe(true);
    }
    for (const value of bad) expect(accepts(JSON.stringify(value))).toBe(false);
  });

  it("goes on from any beginning of what it takes", () => {
    const schema = object({
      s: { type: "string", maxLength: 4 },
      n: { type: "number" },
      l: { type: "array", maxItems: 2 },
    });
    const accepts = accepting(schema);
    const value = fc.record(
      {
        s: fc.string({ maxLength: 4, unit: "grapheme-ascii" }),
        n: fc.integer(),
        l: fc.array(fc.boolean(), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(value, (each) => accepts(JSON.stringify({ ...ordered(each) }))),
      { numRuns: 50 },
    );
  });

  it.each<[string, unknown, string, string]>([
    [
      "pattern",
      object({ a: { type: "string", pattern: "^x" } }),
      "unsupported_value",
      "schema.properties.a.pattern",
    ],
    ["oneOf", { oneOf: [{}] }, "unsupported_value", "schema.oneOf"],
    ["allOf beside a type", { type: "object", allOf: [] }, "unsupported_value", "schema.allOf"],
    ["a keyword of another type", { type: "string", minimum: 1 }, "unsupported_value", "schema.minimum"],
    ["tuples", { type: "array", prefixItems: [{}] }, "unsupported_value", "schema.prefixItems"],
    [
      "multiples",
      { type: "array", items: { type: "number", multipleOf: 2 } },
      "unsupported_value",
      "schema.items.multipleOf",
    ],
    ["bounds within", { type: "number", maximum: 3 }, "unsupported_value", "schema.maximum"],
    ["a wide range", { type: "integer", minimum: 5, maximum: 5000 }, "unsupported_value", "schema.minimum"],
    [
      "other schemas",
      { anyOf: [{}, { $ref: "https://x.y/z" }] },
      "unsupported_value",
      "schema.anyOf[1].$ref",
    ],
    ["a definition that is not there", { $ref: "#/$defs/A" }, "unsupported_value", "schema.$ref"],
    [
      "a definition of itself",
      { $ref: "#/$defs/A", $defs: { A: { anyOf: [{ $ref: "#/$defs/B" }] }, B: { $ref: "#/$defs/A" } } },
      "invalid_value",
      "schema.$defs.B.$ref",
    ],
    [
      "what is required and unknown",
      { type: "object", required: ["x"] },
      "unsupported_value",
      "schema.required",
    ],
    [
      "names of members",
      { type: "object", propertyNames: { enum: ["a"] } },
      "unsupported_value",
      "schema.propertyNames",
    ],
    ["too much to count", { type: "array", maxItems: 5000 }, "unsupported_value", "schema.maxItems"],
    ["nothing", { type: "array", items: false }, "unsupported_value", "schema.items"],
    ["too much", { description: "x".repeat(70_000) }, "unsupported_value", "schema"],
    ["a type that is none", { type: "text" }, "invalid_value", "schema.type"],
    ["a type of every object", { type: "constructor" }, "invalid_value", "schema.type"],
    ["a schema that is none", object({ a: 3 }), "invalid_value", "schema.properties.a"],
    ["bounds that cross", { type: "integer", minimum: 3, maximum: 2 }, "invalid_value", "schema"],
    [
      "lengths that cross",
      { type: "string", minLength: 3, maxLength: 2 },
      "invalid_value",
      "schema.maxLength",
    ],
    ["an empty choice", { enum: [] }, "invalid_value", "schema.enum"],
    ["a bound that is text", { type: "integer", minimum: "1" }, "invalid_value", "schema.minimum"],
  ])("refuses %s, and says where", (_, schema, code, param) => {
    expect(refusal(schema)).toMatchObject({ status: 400, code, param });
  });

  it("never fails otherwise, whatever it is given", () => {
    const keys = fc.constantFrom(
      ..."type enum const anyOf $ref $defs properties required additionalProperties items minItems maxItems".split(
        " ",
      ),
      ..."minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum propertyNames a __proto__".split(
        " ",
      ),
    );
    const leaves = fc.oneof(
      fc.constantFrom(
        "object",
        "array",
        "string",
        "integer",
        "number",
        "#/$defs/a",
        "#/$defs/%",
        "#/$defs/__proto__",
      ),
      fc.constantFrom<unknown[]>(true, false, null, 0, 1, -1, 2.5, 1e300),
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        leaves,
        fc.array(tie("schema"), { maxLength: 2 }),
        fc.dictionary(keys, tie("schema")),
      ),
    }));
    fc.assert(
      fc.property(
        schema.map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        (given) => {
          try {
            accepting(given)("x");
          } catch (error) {
            expect(error).toBeInstanceOf(RequestError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each<[string, string]>([
    ["alternatives", `${'{"anyOf":['.repeat(100_000)}{}${"]}".repeat(100_000)}`],
    ["a value", `{"const":${"[".repeat(20_000)}${"]".repeat(20_000)}}`],
    ["lists", `${'{"type":"array","items":'.repeat(2000)}{}${"}".repeat(2000)}`],
  ])("refuses %s nested too deeply", (_, json) => {
    expect(refusal(JSON.parse(json))).toMatchObject({
      status: 400,
      code: "unsupported_value",
      param: "schema",
      message: expect.stringContaining("nested too deeply") as string,
    });
  });

  it("refuses definitions that lead through very many others, and very many integers", () => {
    const $defs: Record<string, object> = { d300: {} };
    for (let at = 0; at < 300; at++) $defs[`d${at}`] = { $ref: `#/$defs/d${at + 1}` };
    expect(refusal({ $ref: "#/$defs/d0", $defs })).toMatchObject({ code: "unsupported_value" });
    const anyOf = Array.from({ length: 30 }, () => ({ type: "integer", minimum: 1, maximum: 900 }));
    expect(refusal({ anyOf })).toMatchObject({ code: "unsupported_value", param: "schema.anyOf[22]" });
  });

  it("refuses what is nested without end, instead of running out of stack", () => {
    let deep: object = {};
    for (let level = 0; level < 2000; level++) deep = { type: "array", items: deep };
    expect(refusal(deep)).toMatchObject({ code: "unsupported_value", param: "schema" });
  });
});

/** Members in the order of the schema. */
function ordered({ s, n, l }: { s?: string; n?: number; l?: boolean[] }): object {
  return {
    ...(s === undefined ? {} : { s }),
    ...(n === undefined ? {} : { n }),
    ...(l === undefined ? {} : { l }),
  };
}
