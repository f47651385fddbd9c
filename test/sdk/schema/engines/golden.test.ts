import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SLIME_OPTIONS } from "../../../../sdk/schema/engines/slime-plan.ts";
import { VLLM_OPTIONS } from "../../../../sdk/schema/engines/vllm-plan.ts";
import type { NativePlan } from "../../../../sdk/schema/native-plan.ts";
import { CASES } from "./golden-cases.ts";
import { unknownOptions } from "./unknown-options.ts";

const FOLDER = new URL("golden/", import.meta.url);
/** UPDATE_GOLDEN=1 writes the files anew; what changed is then for people to read. */
const isUpdate = process.env["UPDATE_GOLDEN"] === "1";

/** A line for each option, with its values. */
function linesOf(argv: readonly string[]): string[] {
  const starts = argv.flatMap((word, index) => (index === 0 || word.startsWith("--") ? [index] : []));
  return starts.map((start, index) =>
    argv
      .slice(start, starts[index + 1])
      .map(shown)
      .join(" "),
  );
}

function shown(word: string): string {
  return /^[\w./:=@{}+,-]+$/.test(word) ? word : JSON.stringify(word);
}

function textOf(plan: NativePlan): string {
  const { engine, startedSteps, overlay, before, argv, env, files, conversions } = plan;
  const sections: [string, string[]][] = [
    [`engine ${engine}${startedSteps > 0 ? `, after ${startedSteps} steps` : ""}`, []],
    ["image", overlay],
    ["before", before.map((command) => command.map(shown).join(" "))],
    ["environment", Object.entries(env).map(([name, value]) => `${name}=${value}`)],
    ["command", linesOf(argv)],
    ["conversion to Megatron", linesOf(conversions.toMegatron ?? [])],
    ["conversion to Hugging Face", linesOf(conversions.toHf ?? [])],
    ...files.map(({ path, content }): [string, string[]] => [`file ${path}`, content.trimEnd().split("\n")]),
  ];
  const told = sections.filter(([title, lines]) => lines.length > 0 || title.startsWith("engine"));
  return told.map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`), ""].join("\n")).join("\n");
}

describe("what an engine is started with", () => {
  const names = Object.keys(CASES);
  if (isUpdate) {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER);
  }

  it.each(names)("is as people have read it: %s", (name) => {
    const plan = CASES[name]?.();
    if (plan === undefined) throw new Error(`no case ${name}`);
    const file = new URL(`${name}.txt`, FOLDER);
    if (isUpdate) writeFileSync(file, textOf(plan));
    expect(textOf(plan)).toBe(readFileSync(file, "utf8"));
    const list = plan.engine === "vllm" ? VLLM_OPTIONS : SLIME_OPTIONS;
    expect(unknownOptions(list, plan.argv.slice(2))).toEqual([]);
  });

  it("is read for twenty run specs and more, and nothing lies beside them", () => {
    expect(names.length).toBeGreaterThan(20);
    expect(readdirSync(FOLDER).sort()).toEqual(names.map((name) => `${name}.txt`).sort());
  });
});
