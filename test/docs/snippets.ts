import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** A piece of code that a page or a docstring shows. */
export interface Snippet {
  /** `README.md:36` */
  where: string;
  language: string;
  code: string;
  /** The source file whose docstring it stands in. */
  file?: string;
}

/** The pages people read, from the root of the repository. */
export function pages(): string[] {
  return globSync(["*.md", "docs/**/*.md", "examples/*/*.md", "skills/**/*.md"], { cwd: root }).sort();
}

/** Fenced blocks of a page. */
export function blocksOf(page: string): Snippet[] {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const blocks: Snippet[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)\s*$/.exec(lines[at] ?? "")?.[1];
    if (language === undefined) continue;
    const end = lines.findIndex((line, index) => index > at && line.startsWith("```"));
    const code = lines.slice(at + 1, end).join("\n");
    blocks.push({ where: `${page}:${at + 2}`, language, code });
    at = end;
  }
  return blocks;
}

/** `@example` of the docstrings of a source file. */
export function examplesOf(file: string): Snippet[] {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  const examples: Snippet[] = [];
  for (const [at, line] of lines.entries()) {
    if (!/^\s*\* @example\s*$/.test(line)) continue;
    const end = lines.findIndex((each, index) => index > at && /^\s*\*(\/| @)/.test(each));
    const code = lines.slice(at + 1, end).map((each) => each.replace(/^\s*\* ?/, ""));
    examples.push({ where: `${file}:${at + 2}`, language: "ts", code: code.join("\n"), file });
  }
  return examples;
}
