import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FINDING_CODES } from "../../../../sdk/config/project-folder/finding-codes.ts";

const root = join(import.meta.dirname, "../../../..");
const source = join(root, "sdk/config/project-folder");
const page = readFileSync(join(root, "docs/project-folder.md"), "utf8");

describe("docs/project-folder.md", () => {
  it("explains every code of a finding in its words, and no other", () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
    expect(rows).toEqual(Object.entries(FINDING_CODES));
  });

  it("explains codes that are used", () => {
    const text = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && name !== "finding-codes.ts")
      .map((name) => readFileSync(join(source, name), "utf8"))
      .join("\n");
    expect(Object.keys(FINDING_CODES).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });
});
