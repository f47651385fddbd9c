import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CodeFile, type CodeItem, codeFinding, unreadable } from "./code-facts.ts";
import type { Finding } from "./finding.ts";
import { readText } from "./read-text.ts";

export type CodeWord = "reward" | "tool";

/** The rewards, or the tools, of a folder: from TypeScript and from Python. */
export interface ProjectCode {
  files: string[];
  /** Undefined where a file cannot be read, or there is none. */
  items: ReadonlyMap<string, CodeItem> | undefined;
  isMath: boolean;
  hasTypeScript: boolean;
  hasPython: boolean;
  findings: Finding[];
}

const TYPESCRIPT = ["ts", "js", "mjs"];

/** Reads rewards.* or tools.* of a folder; names of both files are merged, a clash is an error. */
export async function projectCode(folder: string, word: CodeWord): Promise<ProjectCode> {
  const base = `${word}s`;
  const files: CodeFile[] = [];
  const typescript = TYPESCRIPT.map((ending) => `${base}.${ending}`).find((name) =>
    existsSync(join(folder, name)),
  );
  if (typescript) {
    // Loaded only where there is something to bundle.
    const { typescriptCode } = await import("./typescript-code.ts");
    files.push(await typescriptCode(join(folder, typescript), typescript));
  }
  const python = `${base}.py`;
  if (existsSync(join(folder, python))) files.push(await pythonCode(folder, python, word));
  const findings = files.flatMap((each) => [
    ...each.findings,
    ...emptyFinding(each, word),
    ...(word === "reward" ? inheritedFindings(each) : []),
  ]);
  return {
    files: files.map(({ file }) => file),
    items:
      files.length > 0 && files.every(({ isReadable }) => isReadable)
        ? merged(files, word, findings)
        : undefined,
    isMath: files.some(({ isMath }) => isMath),
    hasTypeScript: typescript !== undefined,
    hasPython: files.some(({ file }) => file === python),
    findings,
  };
}

async function pythonCode(folder: string, file: string, word: CodeWord): Promise<CodeFile> {
  const read = readText(join(folder, file));
  if ("fault" in read) return unreadable(file, read.fault);
  const source = read.text;
  if (word === "reward") return (await import("./python/rewards.ts")).pythonRewards(source, file);
  return (await import("./python/tools.ts")).pythonTools(source, file);
}

/** As at a launch: scores are read by name, and `scores.toString` is no score. */
function inheritedFindings({ file, items }: CodeFile): Finding[] {
  if (file.endsWith(".py")) return [];
  return items
    .filter(({ name }) => name in Object.prototype)
    .map(({ name, position }) =>
      codeFinding(
        "code_refused",
        file,
        position,
        name,
        "is no name for a reward: every JavaScript object has something of that name",
        "Rename the export, and in the rows that name it.",
      ),
    );
}

function emptyFinding({ file, items, isReadable }: CodeFile, word: CodeWord): Finding[] {
  if (items.length > 0 || !isReadable) return [];
  const example = file.endsWith(".py")
    ? `Put @${word} above a function: from rnow.core import ${word}`
    : `Write export const name = ${word}(...), with ${word} from "spotter".`;
  return [
    codeFinding(
      "code_empty",
      file,
      undefined,
      "",
      `defines no ${word}`,
      example,
      word === "tool" ? "warning" : "error",
    ),
  ];
}

function merged(files: readonly CodeFile[], word: CodeWord, findings: Finding[]): Map<string, CodeItem> {
  const items = new Map<string, CodeItem>();
  for (const item of files.flatMap((each) => each.items)) {
    const before = items.get(item.name);
    if (before && before.file !== item.file) {
      const message = `is a ${word} of ${before.file} as well`;
      findings.push(
        codeFinding(
          "code_twice",
          item.file,
          item.position,
          item.name,
          message,
          "Give one of them another name.",
        ),
      );
    }
    items.set(item.name, before ?? item);
  }
  return items;
}
