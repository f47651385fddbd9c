import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./snippets.ts";

const lines = readFileSync(join(root, "docs/known-faults.md"), "utf8").split("\n");
const rows = lines.flatMap((line) => {
  const [, fault, , tests] = line.split("|").map((cell) => cell.trim());
  return /^\d+$/.test(fault ?? "") ? [{ fault: Number(fault), tests: tests?.match(/[\w/*-]+/g) ?? [] }] : [];
});

describe("docs/known-faults.md", () => {
  it("names tests whose titles name the fault", () => {
    expect(rows.length).toBeGreaterThan(40);
    const wrong = rows.flatMap(({ fault, tests }) =>
      tests.filter((test) => !namesFault(test, fault)).map((test) => `${fault}: ${test}`),
    );
    expect(wrong).toEqual([]);
    expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it("tells each fault once, in order", () => {
    const faults = rows.map(({ fault }) => fault);
    expect(faults).toEqual([...new Set(faults)].sort((a, b) => a - b));
  });
});

/** Suites that several adapters share have no `.test` in their name. */
function namesFault(test: string, fault: number): boolean {
  const file = [`test/${test}.test.ts`, `test/${test}.ts`].find((path) => existsSync(join(root, path)));
  if (file === undefined) return false;
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\((\d+(?:, [\w#-]+)*)\)/g)].some(([, numbers = ""]) =>
    numbers.split(", ").includes(String(fault)),
  );
}
