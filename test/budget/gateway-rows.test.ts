import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const expected = [...numbered("E", 29), ...numbered("S", 21)];

describe("docs/gateway.md", () => {
  const rows = rowsOf(readFileSync(join(root, "docs/gateway.md"), "utf8"));

  it("has every row of errors and streams, once and in order", () => {
    expect(rows.map(({ id }) => id)).toEqual(expected);
  });

  it("names only files with a test that names the row", () => {
    const wrong = rows.flatMap(({ id, files }) =>
      files.filter((file) => !names(file, id)).map((file) => `${id}: ${file}`),
    );
    expect(wrong).toEqual([]);
    expect(rows.filter(({ files }) => files.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it("finds a file that is not there, and one that does not name the row", () => {
    expect(names("budget/nowhere", "E1")).toBe(false);
    expect(names("budget/layout", "E1")).toBe(false);
  });
});

function rowsOf(text: string): { id: string; files: string[] }[] {
  return [...text.matchAll(/^\| ([ES]\d+) \|.*\| ([^|]*) \|$/gm)].map(([, id = "", files = ""]) => ({
    id,
    files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
  }));
}

/** Whether a title in the file, or the table that titles are made from, names the row. */
function names(file: string, id: string): boolean {
  const path = join(root, "test", `${file}.test.ts`);
  return existsSync(path) && new RegExp(`["'\`][^"'\`\\n]*\\b${id}\\b`).test(readFileSync(path, "utf8"));
}

function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
}
