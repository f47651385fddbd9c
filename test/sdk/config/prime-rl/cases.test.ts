import { readFileSync } from "node:fs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { resolve } from "../../../../sdk/config/prime-rl/resolve.ts";
import { toy } from "./toy.ts";

interface Case {
  id: string;
  schema: string;
  root_files: string[];
  argv: (string | { file: string; ext: string })[];
  result: "OK" | "ERR";
  detail: string;
}

interface Outcome {
  /** Dotted path → value. */
  values?: Record<string, unknown>;
  /** Paths that are refused. */
  refused?: string[];
}

const all = JSON.parse(
  readFileSync(new URL("../../../fixtures/prime-rl/config-cases.json", import.meta.url), "utf8"),
) as Case[];
const cases = all.filter(({ schema }) => schema === "toy");

/** Cases where ours differs on purpose, with what it does and why. */
const EXCEPTIONS: Record<string, Outcome & { why: string }> = {
  G008: { why: "files compose in argv order, whatever their nesting", values: { "model.name": "late" } },
  G009: {
    why: "two files for one path merge",
    values: { "model.name": "c", "model.hidden_size": 1 },
  },
  G035: { why: "= works for every flag", values: { items: [1, 2] } },
  G042: { why: "None switches a nullable list off", values: { tags: null } },
  G047: { why: "a text in TOML stays a text", values: { extra: { a: "1" } } },
  G079: {
    why: "another variant drops what only the old one has, with a warning",
    values: { "optim.type": "muon", "optim.mu": 0.95, "optim.betas1": undefined },
  },
  G085: { why: "JSON works for sections", values: { "optim.type": "muon" } },
  G093: { why: "old names are resolved in each file: the later file wins", values: { seed: 3 } },
  G121: {
    why: "documented: a position in a list",
    values: { "envs.0": { id: "old", workers: 9, args: {} } },
  },
  G122: { why: "documented: a position in a list", values: { "envs.0": { id: "a", workers: 4, args: {} } } },
};

/** Where upstream's texts are Python's. */
const SPELLED_OUT: Record<string, Outcome> = {
  G118: {
    values: {
      envs: [
        { id: "a", workers: 4, args: {} },
        { id: "b", workers: 8, args: {} },
      ],
    },
  },
};

const folder = mkdtempSync(join(tmpdir(), "spotter-cases-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

describe("the given cases of the toy schema", () => {
  test("are all here", () => {
    expect(cases.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(EXCEPTIONS)));
    expect(cases.length).toBe(78);
  });

  test.each(cases)("$id: $result $argv", async (each) => {
    const wanted = EXCEPTIONS[each.id] ?? SPELLED_OUT[each.id] ?? outcomeOf(each);
    const { config, findings } = await resolve(toy, wordsOf(each));
    const errors = findings.filter(({ severity }) => severity === "error");
    if (wanted.refused) {
      expect(config).toBeNull();
      expect(errors.map(({ path }) => path)).toEqual(wanted.refused);
      return;
    }
    expect(errors).toEqual([]);
    for (const [path, value] of Object.entries(wanted.values ?? {}))
      expect(at(config, path), path).toEqual(value);
  });
});

function wordsOf({ root_files, argv }: Case): string[] {
  const roots = root_files.flatMap((text) => ["@", fileOf(text, "toml")]);
  return [...roots, ...argv.map((word) => (typeof word === "string" ? word : fileOf(word.file, word.ext)))];
}

function fileOf(text: string, extension: string): string {
  const path = join(folder, `f${files++}.${extension}`);
  writeFileSync(path, text);
  return path;
}

function outcomeOf({ result, detail }: Case): Outcome {
  if (result === "ERR") return { refused: refusedIn(detail) };
  const pairs = detail.split(/; (?=[\w.]+=)/).map((pair) => {
    const equals = pair.indexOf("=");
    return [pair.slice(0, equals), JSON.parse(pair.slice(equals + 1))] as const;
  });
  return { values: Object.fromEntries(pairs) };
}

/** The paths in upstream's message, without the variants that it names in between. */
function refusedIn(detail: string): string[] {
  const lines = detail.split(" ¶ ").filter((line) => line.startsWith("--"));
  const flags = lines.length > 0 ? lines : [/--[\w.-]+/.exec(detail)?.[0] ?? ""];
  if (/^(Config file|Unsupported|@ must)|^Unrecognized arguments: [^-]|arguments: -x/.test(detail))
    return [""];
  return flags.map((flag) =>
    (/--([\w.[\]-]+)/.exec(flag)?.[1] ?? "")
      .replaceAll(/\[(\d+)\]/g, ".$1")
      .replaceAll("-", "_")
      .replace(/^optim\.(adamw|muon)\./, "optim."),
  );
}

function at(tree: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((held, step) => (held as Record<string, unknown> | undefined)?.[step], tree);
}
