import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
  "dependencies" | "devDependencies",
  Record<string, string>
>;

describe("the repository", () => {
  it("has these at its top", () => {
    const folders = ["infra", "functions", "sdk", "examples", "test"];
    expect(folders.filter((name) => !statSync(join(root, name)).isDirectory())).toEqual([]);
    expect(["package.json", "Pulumi.yaml"].filter((name) => !statSync(join(root, name)).isFile())).toEqual(
      [],
    );
  });

  it.each([
    // What rests on it, and in how many files at least.
    ["@pulumi/pulumi", "infra/**/*.ts", 3],
    ["@pulumi/aws", "infra/components/*.ts", 3],
    ["hono", "functions/**/*.ts", 3],
    ["zod", "sdk/schema/*.ts", 12],
    ["esbuild", "{sdk/user-code,infra}/*.ts", 2],
    ["miniflare", "{functions/local/miniflare-isolates,test/contract/control-plane}/*.ts", 2],
    ["vitest", "{vitest.config.ts,test/**/*.test.ts}", 100],
  ])("rests on %s in %s", (name, pattern, least) => {
    expect({ ...manifest.dependencies, ...manifest.devDependencies }).toHaveProperty([name]);
    const uses = new RegExp(`(from|import\\() ?"${name}["/]`);
    const files = globSync(pattern, { cwd: root }).filter((file) =>
      uses.test(readFileSync(join(root, file), "utf8")),
    );
    expect(files.length).toBeGreaterThanOrEqual(least);
  });

  it("has a project of tests for each kind", () => {
    const config = readFileSync(join(root, "vitest.config.ts"), "utf8");
    const names = [...config.matchAll(/name: "(\w+)"/g)].map(([, name]) => name);
    expect(names).toEqual(
      expect.arrayContaining(["unit", "infra", "contract", "e2e", "chaos", "browser", "long"]),
    );
  });
});
