import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ENTRYPOINTS } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../sdk/config/prime-rl/resolve.ts";

const root = join(import.meta.dirname, "../../../..");
const skill = readFileSync(join(root, "skills/configs/SKILL.md"), "utf8");

it("names files and folders that are there", () => {
  const paths = [...skill.matchAll(/`((?:sdk|test|examples)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it("teaches forms that resolve", async () => {
  // The first column of its table, a form or several in backticks.
  const cells = [...skill.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
  const flags = cells.flatMap((cell) => [...cell.matchAll(/`(--[^`]+)`/g)].map(([, form = ""]) => form));
  expect(flags.length).toBeGreaterThan(6);
  for (const form of flags) {
    const words = form.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", "")) ?? [];
    const base = ["@", "examples/alphabet_sort/rl.toml"];
    const { findings } = await resolve(ENTRYPOINTS.rl, [...base, ...words], {
      cwd: root,
      readBytes: (path) =>
        path === "trainer.toml" ? Buffer.from("[optim]\nlr = 1.0") : readFileSync(join(root, path)),
    });
    expect([form, findings.filter(({ severity }) => severity === "error")]).toEqual([form, []]);
  }
});

it("has a name and says when to use it", () => {
  expect(skill).toMatch(/^---\nname: configs\ndescription: .{40,}\n---\n/);
});
