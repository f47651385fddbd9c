import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

describe("package-lock.json", () => {
  it("records no download addresses, so that any registry mirror serves an install", () => {
    expect(readFileSync(join(root, "package-lock.json"), "utf8")).not.toContain('"resolved"');
  });

  it("runs no install script that downloads from elsewhere", () => {
    const { allowScripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      allowScripts: Record<string, boolean>;
    };
    const approved = Object.keys(allowScripts).filter((name) => allowScripts[name]);
    expect(approved.sort()).toEqual(["esbuild", "node", "workerd"]);
  });
});
