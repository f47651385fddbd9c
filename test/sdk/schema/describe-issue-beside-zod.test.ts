import { beforeAll, describe, expect, it } from "vitest";
import * as full from "zod";
import * as z from "zod/mini";
import { CATALOGUE } from "../../../sdk/config/project-folder/catalogue.ts";
import { checkConfig } from "../../../sdk/config/project-folder/check-config.ts";
import { readYaml } from "../../../sdk/config/project-folder/read-yaml.ts";
import { parseWith } from "../../../sdk/schema/parse.ts";

describe("in a program that uses zod itself", () => {
  // What loading zod does; said again, should it be loaded by somebody else first.
  beforeAll(() => full.config(full.locales.en()));

  it("parseWith keeps its own words, and those that a schema brings", () => {
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

  it("a project's config.yml is judged in ours", () => {
    const document = readYaml("dataset_type: red\ndata: { batch_size: 99 }\n", "config.yml");
    const { findings } = checkConfig(document, "/nowhere", CATALOGUE);
    const messages = findings.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^must be one of "rl", .*, is "red"$/));
    expect(messages.join("\n")).not.toMatch(/Invalid|Too big/);
  });
});
