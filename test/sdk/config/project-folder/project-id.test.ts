import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fillProjectId, withProjectId } from "../../../../sdk/config/project-folder/project-id.ts";
import { projectFolder } from "./folder.ts";

const yaml = (text: string) => withProjectId(text, "config.yml", "id-1");

describe("the project's id", () => {
  it.each([
    ['# top\nproject_id: ""\nname: x\n', '# top\nproject_id: "id-1"\nname: x\n'],
    ["project_id:   # filled in\nname: x\n", 'project_id: "id-1" # filled in\nname: x\n'],
    ["a: 1\r\nproject_id: null\r\n", 'a: 1\r\nproject_id: "id-1"\r\n'],
    [
      "# a comment\n\ndataset_type: rl # kept\n",
      '# a comment\n\nproject_id: "id-1"\ndataset_type: rl # kept\n',
    ],
    ["---\ndataset_type: rl\n", '---\nproject_id: "id-1"\ndataset_type: rl\n'],
  ])("goes into %j and changes nothing else", (before, after) => expect(yaml(before)).toBe(after));

  it.each([
    ['{"project_id": "", "a": 1}', '{"project_id": "id-1", "a": 1}'],
    ['{\n  "a": 1\n}', '{\n  "project_id": "id-1",\n  "a": 1\n}'],
  ])("goes into %j as well", (before, after) =>
    expect(withProjectId(before, "config.json", "id-1")).toBe(after),
  );

  it("is written once, and not at all where the file is gone", () => {
    const folder = projectFolder();
    expect(fillProjectId(folder, "config.yml", () => "id-1")).toBe("id-1");
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toMatch(
      /^project_id: "id-1"\ndataset_type: rl\n/,
    );
    expect(fillProjectId(folder, "gone/config.yml")).toBeUndefined();
  });
});
