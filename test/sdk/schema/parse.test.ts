import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { parseWith } from "../../../sdk/schema/parse.ts";
import { runSpec } from "../../../sdk/schema/run-spec.ts";

function failureOf(schema: z.ZodMiniType, value: unknown): SpotterError {
  try {
    parseWith(schema, value, "The thing");
  } catch (error) {
    if (SpotterError.is(error)) return error;
  }
  throw new Error("It was accepted.");
}

describe("parseWith", () => {
  it("fills in defaults", () => {
    expect(parseWith(z.object({ a: z._default(z.number(), 1) }), {}, "The thing")).toEqual({ a: 1 });
  });

  it("lists every finding with its path and what the value is", () => {
    const schema = z.object({
      ok: z.boolean(),
      count: z.number().check(z.int(), z.gt(0), z.lte(9)),
      names: z.array(z.string().check(z.minLength(2))).check(z.maxLength(2)),
      mode: z.enum(["fast", "slow"]),
      half: z.number().check(z.int()),
      gone: z.string(),
      either: z.union([z.string(), z.number()]),
      hash: z.string().check(z.regex(/^[a-f]+$/)),
      even: z.number().check(z.multipleOf(2)),
    });
    const value = {
      ok: "yes",
      count: 12,
      names: ["a"],
      mode: "medium",
      half: 0.5,
      either: [],
      hash: "x",
      even: 3,
    };
    expect(failureOf(schema, value).message.split("\n")).toEqual([
      "The thing is not valid:",
      "  ok: is a string, expected boolean",
      "  count: must be at most 9, is 12",
      '  names.0: must have at least 2 characters, is "a"',
      '  mode: must be one of "fast", "slow", is "medium"',
      "  half: must be a whole number, is 0.5",
      "  gone: missing, expected string",
      "  either: is an array that fits no known form, expected string or number",
      '  hash: does not match /^[a-f]+$/, is "x"',
      "  even: must be a multiple of 2, is 3",
    ]);
  });

  it("names the nearest known key, at any depth (56)", () => {
    const error = failureOf(z.strictObject({ a: z.strictObject({ learningRate: z.optional(z.number()) }) }), {
      a: { learning_rates: 1, zzzzzzzz: 2 },
    });
    expect(error.code).toBe("unknown_key");
    expect(error.where).toBe("a.learning_rates");
    expect(error.message).toContain('a.learning_rates: unknown key; did you mean "learningRate"?');
    expect(error.message).toContain("a.zzzzzzzz: unknown key; known keys: learningRate");
  });

  it("knows of a choice of objects the keys of the one that was chosen, and guesses no word", () => {
    const error = failureOf(runSpec, { algorithm: { kind: "distill", ["__proto__"]: 1, zzzzzzzz: 2 } });
    const { message } = error;
    const known = /algorithm\.zzzzzzzz: unknown key; known keys: (.*)/.exec(message)?.[1] ?? "";
    expect(known.split(", ")).toContain("klCoef");
    expect(known).not.toMatch(/batchSize|advantage|learnRoles/);
    expect(message).toContain("algorithm.__proto__: unknown key; known keys:");
  });

  it("names one bound of several that a value breaks, the tightest", () => {
    const schema = z.strictObject({ max: z.number().check(z.int(), z.lte(1_000)) });
    expect(failureOf(schema, { max: 1e99 }).message.match(/at most/g)).toHaveLength(1);
    expect(failureOf(schema, { max: 1e99 }).message).toContain("at most 1000, is 1e+99");
  });

  it("points nowhere where there is no key", () => {
    expect(failureOf(z.string(), 1).where).toBeUndefined();
  });

  it("tells which values decide between the forms of a union", () => {
    const error = failureOf(runSpec, { algorithm: { kind: "ppo" } });
    expect(error.message).toContain('algorithm.kind: must be one of "grpo", "sft", "distill", is "ppo"');
  });

  it("prefers the schema's own words", () => {
    const schema = z.string().check(z.regex(/x/, "write an x"));
    expect(failureOf(schema, "y").message).toContain("(top level): write an x");
  });
});
