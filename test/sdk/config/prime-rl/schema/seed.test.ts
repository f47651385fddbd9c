import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { Inference } from "../../../../../sdk/config/prime-rl/schema/inference.ts";
import { Orchestrator } from "../../../../../sdk/config/prime-rl/schema/orchestrator.ts";
import { RENDERERS } from "../../../../../sdk/config/prime-rl/schema/renderer.ts";
import { Rl } from "../../../../../sdk/config/prime-rl/schema/rl.ts";
import { Sft } from "../../../../../sdk/config/prime-rl/schema/sft.ts";
import { Trainer } from "../../../../../sdk/config/prime-rl/schema/trainer.ts";
import { fieldsOf, type Row } from "./fields-of.ts";

/** The facts of the pinned version, a field a line: path, type, default, bounds, aliases. */
function factsOf(entrypoint: string): string[][] {
  const url = new URL(`../../../../fixtures/prime-rl/fields-${entrypoint}.tsv`, import.meta.url);
  return readFileSync(url, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t"));
}

/** Class names become what tells the classes apart: the first value of the field that names the variant. */
function tagsOf(lines: string[][]): Map<string, string> {
  const tags = new Map<string, string>();
  for (const [path = "", type = ""] of lines) {
    const variant = /<(\w+)>\.(type|name)$/.exec(path)?.[1];
    const value = /^'([^']+)'/.exec(type)?.[1];
    if (variant !== undefined && value !== undefined) tags.set(variant, value);
  }
  return tags;
}

/** `'policy'|FrozenModelConfig|None` → `'policy'|section|None`; several classes are one union of sections. */
function typeOf(type: string): string {
  if (type === "dict") return "dict[str,Any]";
  if (type.startsWith("list[") && !type.endsWith("None")) return `list[${typeOf(type.slice(5, -1))}]`;
  const parts = type.split("|").map((part) => (/^[A-Z]\w*Config$|^\w*Tier$/.test(part) ? "section" : part));
  return [...new Set(parts)].join("|");
}

function defaultOf(text: string): unknown {
  if (text === "REQUIRED") return "REQUIRED";
  if (/^[A-Z]\w*\(\)$/.test(text)) return "section";
  const path = /^PosixPath\((.*)\)$/.exec(text)?.[1] ?? text;
  const words: Record<string, string> = { None: "null", True: "true", False: "false" };
  const json = path.replace(/'([^']*)'/g, (_, inner: string) => `"${inner}"`);
  return JSON.parse(words[json] ?? json);
}

const boundsOf = (text: string) => text.replace(/G[et](?=g)|L[et](?=l)/g, "").replace(/\.0\b/g, "");

type Fact = Omit<Row, "help">;

function rowsOf(lines: string[][]): Map<string, Fact> {
  const tags = tagsOf(lines);
  return new Map(
    lines.map(([path = "", type = "", standard = "", bounds = "", aliases = ""]) => {
      const plain = path.replace(/<(\w+)>/g, (_, name: string) => `<${tags.get(name)}>`);
      const isFilters = standard === "[3x]";
      return [
        plain,
        {
          path: plain,
          type: typeOf(type),
          default: isFilters ? "three filters" : defaultOf(standard),
          bounds: boundsOf(bounds),
          aliases,
        },
      ];
    }),
  );
}

/** Tables of the environments' own kind, which the facts name without their fields. */
const OPEN = /env\.(taskset|harness|timeout|retries|pool(<\w+>)?)\./;
/** What a renderer takes beside its name passes through; the facts name no such field. */
const RENDERER_OPTIONS = /renderer<default>\.(tool_parser|reasoning_parser)$/;
/** Later renderers are known too; the first six are those of the facts. */
const RENDERER_NAME = /renderer<qwen3>\.name$/;

function ours(schema: Parameters<typeof fieldsOf>[0]): Map<string, Fact> {
  const rows = fieldsOf(schema)
    .filter(({ path }) => !OPEN.test(path) && !RENDERER_OPTIONS.test(path))
    .map(({ help: _, ...row }) => row);
  return new Map(
    rows.map((row) => {
      if (/_batch_filters$/.test(row.path)) return [row.path, { ...row, default: "three filters" }];
      if (RENDERER_NAME.test(row.path))
        return [row.path, { ...row, type: row.type.split("|").slice(0, 6).join("|"), default: RENDERERS[0] }];
      return [row.path, row];
    }),
  );
}

const topOfRl = factsOf("rl");
const nested = ["trainer", "orchestrator", "inference"].flatMap((part) =>
  factsOf(part).map(([path = "", ...rest]) => [`${part}.${path}`, ...rest]),
);

describe.each([
  ["trainer", Trainer, factsOf("trainer")],
  ["orchestrator", Orchestrator, factsOf("orchestrator")],
  ["inference", Inference, factsOf("inference")],
  ["sft", Sft, factsOf("sft")],
  ["rl", Rl, [...topOfRl, ...nested]],
] as const)("the schema of %s", (_, schema, facts) => {
  const expected = rowsOf(facts as string[][]);
  const actual = ours(schema);

  it("has every field of the pinned version, and no other", () => {
    expect([...actual.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
  });

  it("gives each field the same type, default, bounds and aliases", () => {
    const both = [...expected.values()].filter(({ path }) => actual.has(path));
    const other = both.filter((row) => !isDeepStrictEqual(actual.get(row.path), row));
    expect(both.length).toBeGreaterThan(100);
    expect(other.map(({ path }) => actual.get(path))).toEqual(other);
  });

  it("explains each field that is no tag", () => {
    const silent = fieldsOf(schema).filter(({ path, help }) => help === "" && !/>?\.(type|name)$/.test(path));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });
});
