import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../../sdk/config/prime-rl/argv.ts";
import { resolve } from "../../../../sdk/config/prime-rl/resolve.ts";
import { rootOf } from "../../../../sdk/config/prime-rl/walk.ts";
import { toy } from "./toy.ts";

const FILES: Record<string, string> = {
  "base.toml":
    'name = "base"\nenabled = true\nitems = [1, 2]\ntags = ["a"]\nsteps = 5\n[extra]\na = 1\nb = { c = 1 }\n',
  "off.toml": '[model]\nac = "None"\n',
  "on.toml": "[model.compile]\n",
};

describe("the words of a command line", () => {
  it("mirror the tree with dots, in kebab-case or snake_case, with = or a space", async () => {
    expect(await values("--model.hidden-size 3")).toMatchObject({ model: { hidden_size: 3 } });
    expect(await values("--model.hidden_size=4")).toMatchObject({ model: { hidden_size: 4 } });
    expect(await values("--optim.lr=1e-5 --name=a=b")).toMatchObject({ optim: { lr: 1e-5 }, name: "a=b" });
    expect(await values("-s 7")).toMatchObject({ seed: 7 });
    expect(await values("-s=-7")).toMatchObject({ seed: -7 });
  });

  it("switch booleans on alone and off with --no-, and take a value beside them", async () => {
    expect(await values("@ base.toml --no-enabled")).toMatchObject({ enabled: false });
    expect(await values("--enabled --no-on")).toMatchObject({ enabled: true, on: false });
    expect(await values("--no-enabled --enabled")).toMatchObject({ enabled: true });
    for (const word of ["true", "True", "1"])
      expect(await values(`--enabled ${word}`)).toMatchObject({ enabled: true });
    for (const word of ["false", "False", "0"])
      expect(await values(`--on ${word}`)).toMatchObject({ on: false });
    expect(await values("--on=off --model.ac.fullgraph")).toMatchObject({
      on: false,
      model: { ac: { fullgraph: true } },
    });
    expect(await problem("--enabled yes")).toContain("yes belongs to no flag");
  });

  it("give lists by spaces, by JSON or after =, in the place of the files' list", async () => {
    for (const words of [["--items", "7", "-8"], ["--items", "[7, -8]"], ["--items=[7, -8]"]])
      expect(await values(["@", "base.toml", ...words])).toMatchObject({ items: [7, -8] });
    expect(await values("@ base.toml --items")).toMatchObject({ items: [] });
    expect(await values("--items=9 --tags x y --name z")).toMatchObject({
      items: [9],
      tags: ["x", "y"],
      name: "z",
    });
    expect(await values("--items 1 -s 5")).toMatchObject({ items: [1], seed: 5 });
  });

  it("give tables as JSON, which merge into those of the files, or entry by entry", async () => {
    expect(await values(["@", "base.toml", "--extra", '{"b": {"d": 2}, "e": "7"}'])).toMatchObject({
      extra: { a: 1, b: { c: 1, d: 2 }, e: "7" },
    });
    expect(
      await values("--extra.count 5 --extra.rate 1e-3 --extra.flag --extra.code 007 --extra.is-on true"),
    ).toMatchObject({
      extra: { count: 5, rate: 0.001, flag: true, code: "007", is_on: true },
    });
    expect(await values("--env-vars.FOO-BAR 1")).toMatchObject({ env_vars: { "FOO-BAR": "1" } });
    expect(
      await values(["--model", '{"name": "j"}', "--optim", '{"type": "muon", "mu": 0.5}']),
    ).toMatchObject({
      model: { name: "j", hidden_size: 8 },
      optim: { type: "muon", mu: 0.5 },
    });
  });

  it("switch optional sections on alone, with a setting or by an empty table", async () => {
    const compile = { fullgraph: false, mode: "default" };
    expect(await values("--model.compile")).toMatchObject({ model: { compile } });
    expect(await values("@ on.toml")).toMatchObject({ model: { compile } });
    expect(await values("--model.compile.mode max")).toMatchObject({
      model: { compile: { ...compile, mode: "max" } },
    });
    expect(await values("@ off.toml --model.ac")).toMatchObject({ model: { ac: compile } });
  });

  it("switch sections off that are on: --no-, None on the command line, None in a file", async () => {
    for (const words of ["--no-model.ac", "--model.ac None", "--model.ac=None", "@ off.toml"])
      expect(await values(words)).toMatchObject({ model: { ac: null } });
    expect(await problem("--no-model")).toContain("There is no setting no_model");
  });

  it("say None for null where a setting may be null, and nowhere else", async () => {
    expect(await values("@ base.toml --steps None --tags None")).toMatchObject({ steps: null, tags: null });
    expect(await values("--items 1 --extra.key None")).toMatchObject({ extra: { key: "None" } });
    expect(await values(["--tags", '["None"]'])).toMatchObject({ tags: ["None"] });
    expect(await problem("--name None")).toContain("name has to be a text, not null");
  });

  it("keep the default variant of a union until they name another", async () => {
    expect(await values("--optim.lr 0.5")).toMatchObject({ optim: { type: "adamw", lr: 0.5, betas1: 0.9 } });
    expect(await values("--optim.mu 0.5 --optim.type muon")).toEqual(
      expect.objectContaining({ optim: { type: "muon", lr: 1e-6, mu: 0.5 } }),
    );
    expect(await problem("--optim.mu 0.5")).toContain("There is no setting optim.mu");
  });

  it("know their files and flags in order", () => {
    const words = [
      "--enabled",
      "@",
      "a.toml",
      "--model",
      "@",
      "b.toml",
      "--items",
      "1",
      "@",
      "c.toml",
      "--envs.1.id",
      "x",
    ];
    expect(parseArguments(words, rootOf(toy.schema))).toEqual({
      files: [
        { file: "a.toml", path: [] },
        { file: "b.toml", path: ["model"] },
        { file: "c.toml", path: [] },
      ],
      flags: [
        { flag: "--enabled", path: ["enabled"], value: true },
        { flag: "--items", path: ["items"], value: ["1"] },
        { flag: "--envs.1.id", path: ["envs", 1, "id"], value: "x" },
      ],
      reports: [],
    });
  });
});

async function values(words: string | string[]): Promise<unknown> {
  const { config, findings } = await run(words);
  expect(findings, String(words)).toEqual([]);
  return config;
}

async function problem(words: string): Promise<string> {
  const { findings } = await run(words);
  return findings.map(({ message }) => message).join("\n");
}

function run(words: string | string[]) {
  return resolve(toy, typeof words === "string" ? words.split(" ") : words, {
    readBytes: (path) => Buffer.from(FILES[path] ?? ""),
  });
}
