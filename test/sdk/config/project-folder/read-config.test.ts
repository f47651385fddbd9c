import { describe, expect, it } from "vitest";
import { positionOf } from "../../../../sdk/config/project-folder/config-document.ts";
import { readJson } from "../../../../sdk/config/project-folder/read-json.ts";
import { readYaml } from "../../../../sdk/config/project-folder/read-yaml.ts";

const SOURCE = `# a comment
base: &base
  batch_size: 0b100
  group_size: 8
data:
  <<: *base
  group_size: "4"   # a text
list: [ one, {two: yes} ]
note: !!str 12
`;

describe("readYaml", () => {
  it("reads values as PyYAML does, merges included", () => {
    expect(readYaml(SOURCE, "config.yml").value).toEqual({
      base: { batch_size: 4, group_size: 8 },
      data: { batch_size: 4, group_size: "4" },
      list: ["one", { two: true }],
      note: "12",
    });
  });

  it("knows where every key and value stands", () => {
    const document = readYaml(SOURCE, "config.yml");
    expect(positionOf(document, ["data", "group_size"])).toEqual({ line: 7, column: 15 });
    expect(positionOf(document, ["data", "group_size"], true)).toEqual({ line: 7, column: 3 });
    expect(positionOf(document, ["list", 1, "two"])).toEqual({ line: 8, column: 20 });
    // Merged in: where it is written.
    expect(positionOf(document, ["data", "batch_size"])).toEqual({ line: 3, column: 15 });
    // Missing: the key around it.
    expect(positionOf(document, ["data", "val_split"])).toEqual({ line: 5, column: 1 });
    expect(positionOf(document, ["trainer", "num_epochs"])).toEqual({ line: 2, column: 1 });
  });

  it("reports keys given twice, with both places", () => {
    const { remarks } = readYaml("a: 1\nb: {c: 1, c: 2}\na: 2\n", "config.yml");
    expect(remarks.map(({ code, path, position }) => [code, path.join("."), position])).toEqual([
      ["duplicate_key", "b.c", { line: 2, column: 11 }],
      ["duplicate_key", "a", { line: 3, column: 1 }],
    ]);
    expect(remarks[1]?.message).toContain("line 1");
  });

  it.each([
    ["a: [1\nb: 2\n", 2],
    ["a:\n\t- b\n", 2],
    ["a: *nowhere\n", 1],
    ["a: &a [*a]\n", 1],
    ["a: 1\n---\nb: 2\n", 2],
    ["a: 'x\n", 2],
    ["? [a]\n: 1\n", 1],
    ["a: !!python/object:os.system x\n", 1],
    ["a: {<<: 3}\n", 1],
  ])("says in which line %j is not what it should be", (text, line) => {
    const { remarks } = readYaml(text, "config.yml");
    expect(remarks[0]).toMatchObject({ code: "config_syntax", position: { line } });
    expect(remarks[0]?.message).not.toMatch(/at line|\n/);
  });

  it.each([
    ["lists", `a: 1\nb: ${"[".repeat(20_000)}`, 2],
    ["lists that close", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, 1],
    ["sections", `a: ${"{b: ".repeat(20_000)}`, 1],
    ["a thousand lists", `a: 1\nb:\n  ${"[".repeat(500)}${"]".repeat(500)}`, 3],
  ])("says where %s within each other become too many", (_, text, line) => {
    const { remarks } = readYaml(text, "config.yml");
    expect(remarks).toMatchObject([{ code: "config_syntax", position: { line } }]);
    expect(remarks[0]?.message).toBe("has more than 100 lists or sections within each other");
  });

  it("ends with a file whose aliases multiply", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 9; i++)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]`);
    const startMs = performance.now();
    const { remarks } = readYaml(lines.join("\n"), "config.yml");
    expect(remarks.map(({ message }) => message)).toEqual(["holds more than 20000 values"]);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

describe("readJson", () => {
  it("says where brackets within each other become too many", () => {
    for (const depth of [300, 50_000]) {
      const text = `{\n"a": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
      expect(readJson(text, "config.json").remarks).toMatchObject([
        {
          code: "config_syntax",
          message: expect.stringContaining("more than 100") as string,
          position: { line: 2 },
        },
      ]);
    }
  });

  it("reads values and places, and numbers as JSON has them", () => {
    const document = readJson('{\n  "data": {"batch_size": 4},\n  "rate": 1e-4\n}', "config.json");
    expect(document.value).toEqual({ data: { batch_size: 4 }, rate: 1e-4 });
    expect(positionOf(document, ["data", "batch_size"])).toEqual({ line: 2, column: 26 });
  });

  it("reports what is not JSON, and keys given twice, where they stand", () => {
    expect(readJson('{\n  "a": 1,\n}', "config.json").remarks[0]).toMatchObject({
      code: "config_syntax",
      position: { line: 3, column: 1 },
    });
    expect(readJson('{"a": 1,\n "a": 2}', "config.json").remarks[0]).toMatchObject({
      code: "duplicate_key",
      position: { line: 2, column: 2 },
    });
  });
});
