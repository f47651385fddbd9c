import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, root } from "./snippets.ts";

describe("links of pages", () => {
  it("lead to files and headings that are there", () => {
    const links = pages().flatMap((page) => linksOf(page).map((link) => ({ page, link })));
    expect(links.length).toBeGreaterThan(15);
    expect(links.filter(({ page, link }) => isBroken(page, link))).toEqual([]);
  });

  it("would be found out if they did not", () => {
    expect(isBroken("README.md", "docs/nowhere.md")).toBe(true);
    expect(isBroken("README.md", "docs/state.md#no-such-heading")).toBe(true);
    expect(isBroken("docs/state.md", "durability.md#the-last-long-run")).toBe(false);
  });

  it("reach every page of docs from the README or from a page that it links", () => {
    const reached = new Set(["README.md"]);
    for (const page of reached) {
      if (!page.endsWith(".md") || !existsSync(join(root, page))) continue;
      for (const link of linksOf(page)) reached.add(join(dirname(page), link.split("#")[0] ?? ""));
    }
    const inDocs = pages().filter((page) => /^docs\/[^/]+\.md$/.test(page));
    expect(inDocs.filter((page) => !reached.has(page))).toEqual([]);
  });
});

/** Relative links, as written. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```/gms, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

function isBroken(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return true;
  if (heading === undefined || !statSync(file).isFile()) return false;
  const headings = readFileSync(file, "utf8").match(/^#+ .*$/gm) ?? [];
  return !headings.some((line) => anchorOf(line) === heading);
}

/** As GitHub makes them. */
function anchorOf(line: string): string {
  return line
    .replace(/^#+ /, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
