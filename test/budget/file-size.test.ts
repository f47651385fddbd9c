import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const MAX_LINES = 300;

describe("source files", () => {
  it("stay under 300 lines", () => {
    const files = globSync("{sdk,functions,engine,infra,examples,bench,scripts,test}/**/*.{ts,mjs,py}", {
      cwd: root,
      exclude: (path) => path.includes("node_modules"),
    });
    expect(files.length).toBeGreaterThan(20);
    const long = files
      .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long).toEqual([]);
  });
});
