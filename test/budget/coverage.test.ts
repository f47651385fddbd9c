import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const OPEN = "not yet covered";
/** A51 does not exist: the source numbers jump from A50 to A52. */
const expected = [
  ...numbers("A", 69).filter((id) => id !== "A51"),
  ...numbers("B", 56),
  ...numbers("C", 23),
  ...numbers("K", 5),
];
/** Folders that `npm test` and `npm run test:long` run; the vitest projects name the same. */
const RUN_FOLDERS =
  /^test\/(sdk|functions|engine|scripts|examples|infra|budget|docs|contract|e2e|chaos|browser|long)\/.+\.test\.ts$/;

interface Row {
  ids: string[];
  label: string;
  statement: string;
  proof: string;
}

const rows = parse(readFileSync(join(root, "docs/coverage.md"), "utf8"));

describe("docs/coverage.md", () => {
  it("has a row for every numbered statement and no others", () => {
    const covered = new Set(rows.flatMap((row) => row.ids));
    expect(expected.filter((id) => !covered.has(id))).toEqual([]);
    expect([...covered].filter((id) => !expected.includes(id))).toEqual([]);
  });

  it("quotes the statement and names a test or says that there is none", () => {
    expect(rows.filter((row) => row.statement === "" || row.proof === "").map((row) => row.label)).toEqual(
      [],
    );
  });

  it("names only tests that exist, run and are not skipped", () => {
    expect(rows.flatMap((row) => proofs(row).flatMap((proof) => problemsOf(row.label, proof)))).toEqual([]);
  });

  it("finds a test that is missing, skipped or outside the suite", () => {
    const own = "test/budget/coverage.test.ts";
    expect(problemsOf("X", `${own} > finds a test that is missing, skipped or outside the suite`)).toEqual(
      [],
    );
    expect(problemsOf("X", `${own} > no such ${"title"}`)).toHaveLength(1);
    expect(problemsOf("X", "test/budget/nowhere.test.ts > a")).toHaveLength(1);
    expect(problemsOf("X", "bench/run.ts > a")).toHaveLength(1);
    expect(titleProblem(`it.${"skip"}("a b", () => {})`, "a b")).toMatch(/skipped/);
  });
});

function numbers(letter: string, last: number): string[] {
  return Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
}

function parse(text: string): Row[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const match = /^([ABCK])(\d+)(?:–\1(\d+))?/.exec(cells[1] ?? "");
    if (!match || cells.length < 5) return [];
    const [, letter = "", first = "0", last = first] = match;
    const ids = numbers(letter, Number(last)).slice(Number(first) - 1);
    return [{ ids, label: cells[1] ?? "", statement: cells[2] ?? "", proof: cells[3] ?? "" }];
  });
}

function proofs(row: Row): string[] {
  return row.proof
    .replace(/\s*\(open: [^()]*\)\s*$/, "")
    .split("<br>")
    .map((proof) => proof.trim())
    .filter((proof) => proof !== OPEN && proof !== "");
}

function problemsOf(label: string, proof: string): string[] {
  const [file = "", ...title] = proof.split(" > ");
  if (!RUN_FOLDERS.test(file)) return [`${label}: ${file} is outside npm test and npm run test:long`];
  const path = join(root, file);
  if (!existsSync(path)) return [`${label}: ${file} does not exist`];
  const problem = titleProblem(readFileSync(path, "utf8"), title.join(" > "));
  return problem ? [`${label}: ${file}: ${problem}`] : [];
}

function titleProblem(source: string, title: string): string | undefined {
  const at = source.indexOf(`"${title}"`);
  if (title === "" || at < 0) return `no test is titled "${title}"`;
  const call = source.slice(Math.max(0, at - 40), at);
  return /\.(skip|todo)\(\s*$/.test(call) ? `"${title}" is skipped` : undefined;
}
