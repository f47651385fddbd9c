import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "../../infra/bundle.ts";

let root: string;
let made: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "spotter-bundles-"));
  mkdirSync(join(root, "functions/lambda"), { recursive: true });
  writeFileSync(join(root, "functions/lambda/runs.ts"), "1");
  made = [];
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const ask = (name: string) =>
  bundle(pathToFileURL(join(root, `functions/lambda/${name}.ts`)), {
    root,
    make: () => {
      made.push(name);
      return Promise.resolve({ "index.mjs": `export {}; // ${made.length}` });
    },
  });
const kept = () => readdirSync(join(root, ".cache/bundles"));

it("makes the bundle of an entry once", async () => {
  const first = await ask("runs");
  expect(await ask("runs")).toEqual(first);
  await ask("evals");
  expect(made).toEqual(["runs", "evals"]);
});

it("makes it again when any source is another one, and forgets the one before", async () => {
  await ask("runs");
  await ask("evals");
  writeFileSync(join(root, "functions/deps.ts"), "");
  await ask("runs");
  utimesSync(join(root, "functions/deps.ts"), 1, 1);
  await ask("runs");
  expect(made).toEqual(["runs", "evals", "runs", "runs"]);
  expect(
    kept()
      .map((name) => name.split("-")[0])
      .sort(),
  ).toEqual(["evals", "runs"]);
});

it("makes it again when what is kept cannot be read", async () => {
  await ask("runs");
  writeFileSync(join(root, ".cache/bundles", kept()[0] ?? ""), "{");
  expect(await ask("runs")).toEqual({ "index.mjs": "export {}; // 2" });
});
