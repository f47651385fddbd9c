import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Constraints } from "../../../../engine/onnx/sample/constraint/constraints.ts";
import { JSON_RULES } from "../../../../engine/onnx/sample/constraint/json-grammar.ts";
import type { TokenMask } from "../../../../engine/onnx/sample/constraint/token-mask.ts";
import { tokenBytes } from "../../../../engine/onnx/text/tokenizer.ts";
import { SchemaGrammar } from "../../../../engine/serve/output/schema-grammar.ts";

const file = fileURLToPath(new URL("../../../../engine/models/nano/tokenizer.json", import.meta.url));
const constraints = new Constraints(() => tokenBytes(file));
const SIZE = 4096;
const many = (length: number, schema: (at: number) => object): object => ({
  anyOf: Array.from({ length }, (_, at) => schema(at)),
});

async function maskOf(schema: object): Promise<TokenMask> {
  const grammar = new SchemaGrammar(schema, "schema", "s/");
  const root = grammar.node();
  return constraints.maskOf({ root, rules: { ...JSON_RULES, ...grammar.rules } }, [0]);
}

/** Takes some of the tokens allowed at each of 40 steps. */
function walk(mask: TokenMask): number {
  const row = new Float32Array(SIZE).fill(1 / SIZE);
  let steps = 0;
  for (; steps < 40 && !mask.complete; steps++) {
    const masked = mask.apply(row);
    const allowed = [...masked.keys()].filter((id) => (masked[id] ?? 0) > 0);
    mask.take(allowed[(steps * 7919) % allowed.length] ?? 0);
  }
  return steps;
}

describe("many alternatives", () => {
  it.each<[string, object]>([
    ["equal texts", many(1500, () => ({ type: "string", maxLength: 1000 }))],
    ["equal lists", many(800, () => ({ type: "array", minItems: 1024, items: { type: "integer" } }))],
    ["equal long texts", many(800, () => ({ type: "string", minLength: 1024 }))],
    [
      "objects in a list",
      {
        type: "array",
        items: many(300, (at) => ({ type: "object", properties: { [`k${at}`]: { type: "string" } } })),
      },
    ],
    ["values", { enum: Array.from({ length: 6000 }, (_, at) => `v${at}`) }],
  ])("are followed as one while they are alike: %s", async (_, schema) => {
    expect(walk(await maskOf(schema))).toBeGreaterThan(0);
  });

  it.each<[string, object]>([
    ["texts", many(1000, (at) => ({ type: "string", maxLength: 24 + at }))],
    ["long texts", many(1000, (at) => ({ type: "string", minLength: 24 + at }))],
  ])("that stay apart end the request at once: %s", async (_, schema) => {
    const mask = await maskOf(schema);
    expect(() => walk(mask)).toThrowError(
      expect.objectContaining({ code: "grammar_too_complex", status: 400 }) as Error,
    );
  });
});
