import { type CodeItem, codeFinding } from "../code-facts.ts";
import type { Finding } from "../finding.ts";
import { nearestName } from "../../../schema/nearest-name.ts";
import type { Decorator, PythonFile, PythonFunction } from "./functions.ts";
import type { Token } from "./tokens.ts";

/** A function with the decorator that was looked for. */
export interface Decorated {
  fn: PythonFunction;
  decorator: Decorator;
}

/** Functions that are decorated with `@reward` or `@tool` of the package rnow, whatever it was imported as. */
export function decoratedWith(file: PythonFile, word: "reward" | "tool"): Decorated[] {
  return file.functions.flatMap((fn) => {
    const decorator = fn.decorators.find(({ name }) => isOurs(name, word));
    return decorator ? [{ fn, decorator }] : [];
  });
}

function isOurs(name: string, word: string): boolean {
  return name === word || (/^rnow(\.|$)/.test(name) && name.split(".").at(-1) === word);
}

/** The decorator stands there, and nothing has brought its name. */
export function importFinding(
  file: PythonFile,
  path: string,
  word: "reward" | "tool",
  found: Decorated[],
): Finding[] {
  const bare = found.find(({ decorator }) => decorator.name === word);
  if (
    !bare ||
    file.imports.has(word) ||
    file.imports.has("*") ||
    file.functions.some(({ name }) => name === word)
  )
    return [];
  const message = `${word} is used and never imported`;
  return [
    codeFinding(
      "code_import",
      path,
      at(bare.decorator.token),
      word,
      message,
      `Add: from rnow.core import ${word}`,
    ),
  ];
}

/** Names that are defined twice: the second would replace the first. */
export function twiceFindings(path: string, found: readonly Decorated[]): Finding[] {
  const seen = new Map<string, number>();
  return found.flatMap(({ fn }) => {
    const before = seen.get(fn.name);
    seen.set(fn.name, before ?? fn.token.line);
    if (before === undefined) return [];
    const message = `is defined in line ${before} already; the second would replace the first`;
    return [codeFinding("code_twice", path, at(fn.token), fn.name, message, "Give it another name.")];
  });
}

/** What the keywords of a decorator say, and what is wrong with them. */
export function optionsOf(
  file: PythonFile,
  path: string,
  { fn, decorator }: Decorated,
  known: readonly string[],
): { item: CodeItem; findings: Finding[] } {
  const findings: Finding[] = [];
  const keywords = decorator.keywords ?? new Map<string, { source: string; token: Token }>();
  for (const [key, { source, token }] of keywords) {
    if (known.includes(key)) continue;
    const near = nearestName(key, known);
    const hint =
      key === "weight"
        ? "Multiply the score inside; reward({ weight }) is for rewards.ts."
        : near
          ? `Did you mean ${near}?`
          : `Known: ${known.join(", ")}.`;
    const what = key.startsWith("*") ? `${source} has no name` : `${key} is no option of the decorator`;
    findings.push(codeFinding("code_option", path, at(token), fn.name, what, hint));
  }
  const flag = (key: string): boolean => {
    const written = keywords.get(key);
    if (!written) return false;
    const source = constantOf(file, written.source);
    if (source === "True" || source === "False") return source === "True";
    const message = `${key}=${written.source} cannot be told without running the file; taken as False`;
    const hint = `Write ${key}=True or ${key}=False.`;
    findings.push(codeFinding("code_unclear", path, at(written.token), fn.name, message, hint, "warning"));
    return false;
  };
  const sandbox = flag("sandbox");
  const precondition = flag("precondition");
  const timeoutS = timeoutOf(file, path, fn.name, keywords.get("timeout"), findings);
  return {
    item: { name: fn.name, file: path, position: at(fn.token), sandbox, precondition, timeoutS },
    findings,
  };
}

function timeoutOf(
  file: PythonFile,
  path: string,
  name: string,
  written: { source: string; token: Token } | undefined,
  findings: Finding[],
): number | undefined {
  const source = written && constantOf(file, written.source);
  if (!written || source === undefined || source === "None") return undefined;
  const seconds = Number(source.replaceAll("_", ""));
  // Something that is worked out: known when it runs.
  if (Number.isNaN(seconds)) return undefined;
  if (seconds > 0) return seconds;
  const hint = "Write seconds above 0, or leave it out for the limit in config.yml.";
  findings.push(codeFinding("code_option", path, at(written.token), name, `timeout is ${source}`, hint));
  return undefined;
}

/** The value of a name that the file sets once at its top, else the source itself. */
function constantOf(file: PythonFile, source: string): string {
  const set = file.statements.filter(({ tokens }) => tokens[0]?.text === source && tokens[1]?.text === "=");
  const tokens = set.length === 1 ? set[0]?.tokens.slice(2) : undefined;
  return tokens ? tokens.map(({ text }) => text).join("") : source;
}

export function at({ line, column }: Token): { line: number; column: number } {
  return { line, column };
}

/** An annotation without quotes, with the names of modules left out: `"rnow.core.RewardArgs"` is RewardArgs. */
export function annotationName(file: PythonFile, annotation: string): string {
  const text = annotation.replace(/^(['"])(.*)\1$/, "$2").replaceAll(" ", "");
  const [first = "", ...rest] = text.split(".");
  const whole = [file.imports.get(first) ?? first, ...rest].join(".");
  return /^[\w.]+$/.test(whole) ? (whole.split(".").at(-1) ?? whole) : text;
}
