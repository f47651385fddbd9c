import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENTRYPOINTS, type EntrypointName } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { dryRunFiles } from "../../../../../sdk/config/prime-rl/emit/dry-run.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";

const root = join(import.meta.dirname, "../../../../..");
const expectedFolder = join(root, "test/fixtures/prime-rl/resolved");
/** The other project's own example files; they are read where they lie, and are no part of this one. */
const theirs = join(root, "../shared/cases/prime-rl-examples");

/** What is resolved elsewhere without nulls, its working folder written as /srv/prime-rl. */
function expectedOf(name: string): unknown {
  const text = readFileSync(join(expectedFolder, `${name}.json`), "utf8");
  return JSON.parse(text.replaceAll("/srv/prime-rl", root));
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}

const entrypointOf = (file: string): EntrypointName => (file.endsWith("sft.toml") ? "sft" : "rl");

async function resolved(file: string, ...words: string[]) {
  const resolution = await resolve(ENTRYPOINTS[entrypointOf(file)], ["@", file, ...words], { cwd: root });
  expect(resolution.findings.filter(({ severity }) => severity === "error")).toEqual([]);
  return resolution.config ?? {};
}

const names = readdirSync(expectedFolder).map((file) => file.replace(".json", ""));
const ours = (name: string) => `examples/${name.replace("__", "/")}.toml`;
const basic = names.filter((name) => existsSync(join(root, ours(name))));

describe("the examples of this project", () => {
  it("carry the names under which others know them", () => {
    expect(basic).toEqual([
      "alphabet_sort__rl",
      "hendrycks_sanity__rl",
      "reverse_text__rl",
      "reverse_text__sft",
      "wiki_search__rl",
      "wordle__rl",
    ]);
  });

  it.each(basic)("%s resolves to what it resolves to elsewhere", async (name) => {
    expect(withoutNulls(await resolved(ours(name)))).toEqual(expectedOf(name));
  });

  it("wordle__sft, whose result nobody wrote down, resolves", async () => {
    const config = await resolved("examples/wordle/sft.toml");
    expect(config).toMatchObject({
      max_steps: 20,
      data: { batch_size: 64, seq_len: 1024 },
      optim: { lr: 1e-5 },
    });
  });
});

const reason = existsSync(theirs) ? "" : ` (skipped: ${theirs} is not here)`;
describe(`the examples of the other project${reason}`, () => {
  it.skipIf(reason !== "").each(names)("%s resolves to what it resolves to there", async (name) => {
    expect(withoutNulls(await resolved(join(theirs, `${name}.toml`)))).toEqual(expectedOf(name));
  });
});

describe("a resolved example", () => {
  const all = basic.map(ours);

  it.each(all)("%s, read again as JSON, resolves to itself", async (file) => {
    const config = await resolved(file);
    const again = await resolve(ENTRYPOINTS[entrypointOf(file)], ["@", "again.json"], {
      readBytes: () => Buffer.from(JSON.stringify(config)),
    });
    expect(again.findings).toEqual([]);
    expect(again.config).toEqual(config);
  });

  it.each(all)("%s leaves files that each process resolves to the same", async (file) => {
    const config = await resolved(file);
    const { files, reports } = dryRunFiles(entrypointOf(file), config);
    expect(reports).toEqual([]);
    expect(files.map(({ name }) => name)).toEqual(
      entrypointOf(file) === "rl"
        ? ["rl.toml", "trainer.toml", "orchestrator.toml", "inference.toml"]
        : ["sft.toml"],
    );
    for (const { name, text } of files) {
      const part = name.replace(".toml", "") as EntrypointName;
      const again = await resolve(ENTRYPOINTS[part], ["@", name], { readBytes: () => Buffer.from(text) });
      expect(again.findings).toEqual([]);
      expect(again.config).toEqual(part === entrypointOf(file) ? config : config[part]);
    }
  });
});
