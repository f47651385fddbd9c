import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

describe("README.md", () => {
  it.each(["run.ts", "rewards.ts"])("shows examples/first-run/%s as it stands", (name) => {
    expect(readme).toContain(readFileSync(join(root, "examples/first-run", name), "utf8"));
  });

  it("leaves no gap to be filled in", () => {
    expect(readme).not.toMatch(/<!--|TBD/);
  });
});
