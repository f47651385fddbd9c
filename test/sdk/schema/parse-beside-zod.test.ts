import { describe, expect, it } from "vitest";
import * as full from "zod";
import * as z from "zod/mini";
import { parseWith } from "../../../sdk/schema/parse.ts";

describe("parseWith in a program that uses zod itself", () => {
  it("keeps its own words, and those that a schema brings", () => {
    // What loading zod does; said again, should it be loaded by somebody else first.
    full.config(full.locales.en());
    const schema = z.strictObject({
      count: z.number().check(z.lte(9)),
      name: z.string().check(z.minLength(3, "is too short for a name")),
      either: z.union([z.number(), z.boolean()]),
    });
    expect(() => parseWith(schema, { count: 10, name: "a", either: "x" }, "Thing")).toThrow(
      "Thing is not valid:\n  count: must be at most 9, is 10\n  name: is too short for a name\n  either: ",
    );
    expect(() => parseWith(schema, { count: 10, name: "a", either: "x" }, "Thing")).not.toThrow(
      /Invalid|Too big/,
    );
  });
});
