import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { targetOf } from "../../sdk/config/prime-rl/argv-target.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../sdk/config/prime-rl/entrypoints.ts";
import { rootOf } from "../../sdk/config/prime-rl/walk.ts";
import { createContext } from "../../sdk/cli/context.ts";
import { createProgram } from "../../sdk/cli/program.ts";
import { blocksOf, pages, root } from "./snippets.ts";

const context = createContext({
  out: process.stdout,
  err: process.stderr,
  env: {},
  signal: new AbortController().signal,
  readInput: async () => "",
});
const program = createProgram(context, false);
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** Lines of the shell blocks of all pages, and commands that the text itself names in backticks. */
const commands = pages()
  // Quotes statements about what is not there yet, too.
  .filter((page) => page !== "docs/coverage.md")
  .flatMap((page) => [
    ...blocksOf(page)
      .filter(({ language }) => language === "sh")
      .flatMap(({ where, code }) => code.split("\n").map((line) => ({ where, line: withoutComment(line) }))),
    ...[...readFileSync(join(root, page), "utf8").matchAll(/`((?:npx )?spotter [^`]+|npm run [^`]+)`/g)].map(
      ([, line = ""]) => ({ where: page, line }),
    ),
  ]);

describe("commands that pages tell to type", () => {
  it("are known, with every option", () => {
    expect(commands.length).toBeGreaterThan(30);
    expect(
      commands.flatMap(({ where, line }) => problemsOf(line).map((what) => `${where}: ${what}`)),
    ).toEqual([]);
  });

  it("would be found out if they were not", () => {
    expect(problemsOf("npx spotter run wacth x")).toEqual(["no `spotter run wacth`"]);
    expect(problemsOf("X=1 spotter run list --limt 3 | head")).toEqual(["no --limt in `spotter run list`"]);
    expect(problemsOf("export K=$(npx spotter keys create app)")).toEqual(["no `spotter keys`"]);
    expect(problemsOf("spotter rl @ x.toml --trainer.optm.lr 1")).toEqual([
      "no --trainer.optm.lr in `spotter rl`",
    ]);
    expect(problemsOf("npm run dmeo")).toEqual(["no script dmeo"]);
    expect(problemsOf("npx node examples/none/run.ts")).toEqual(["no file examples/none/run.ts"]);
  });
});

function withoutComment(line: string): string {
  return line.replace(/\s#.*$/, "").trim();
}

function problemsOf(line: string): string[] {
  return line.split(/ && | \| |\$\(|\)/).flatMap((part) => {
    const script = /^npm run (?:-s )?([\w:]+)/.exec(part)?.[1];
    const file = /^npx node (examples\/\S+)/.exec(part)?.[1];
    const words = /^(?:\w+=\S* )?(?:npx )?spotter (.*)$/.exec(part)?.[1];
    return [
      ...(script !== undefined && scripts[script] === undefined ? [`no script ${script}`] : []),
      ...(file !== undefined && !existsSync(join(root, file)) ? [`no file ${file}`] : []),
      ...(words === undefined || words.startsWith("...") ? [] : commandProblems(words.trim().split(/\s+/))),
    ];
  });
}

function commandProblems(words: string[]): string[] {
  let command: Command = program;
  let path = "spotter";
  for (const word of words) {
    if (command.commands.length === 0 || word.startsWith("-")) break;
    // `spotter backup|restore` speaks of two commands.
    const children = word.split("|").map((name) => command.commands.find((each) => each.name() === name));
    const [child] = children;
    if (child === undefined || children.includes(undefined)) return [`no \`${path} ${word}\``];
    command = child;
    path += ` ${word}`;
  }
  // The flags of a configuration are its settings.
  const entrypoint = words[words[0] === "config" ? 2 : 0] ?? "";
  if (Object.hasOwn(ENTRYPOINTS, entrypoint))
    return settingProblems(path, entrypoint as EntrypointName, words);
  const known = new Set([...optionsOf(program), ...optionsOf(command), "--help"]);
  const unknown = words
    .flatMap((word) => /^--?[a-z][\w-]*/.exec(word) ?? [])
    .filter((word) => !known.has(word));
  return unknown.map((word) => `no ${word} in \`${path}\``);
}

function settingProblems(path: string, entrypoint: EntrypointName, words: readonly string[]): string[] {
  const root = rootOf(ENTRYPOINTS[entrypoint].schema);
  const own = new Set(["--json", "--help", "--dry-run", "--to", "--wandb-secret", "--force"]);
  const flags = words.flatMap((word) => /^--[a-z][^=\s`]*/.exec(word) ?? []).filter((flag) => !own.has(flag));
  return flags
    .filter((flag) => targetOf(flag.replace(/^--(no-)?/, ""), root).shape === undefined)
    .map((flag) => `no ${flag} in \`${path}\``);
}

function optionsOf(command: Command): string[] {
  return command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null));
}
