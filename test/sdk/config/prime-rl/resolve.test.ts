import * as fc from "fast-check";
import { stringify } from "smol-toml";
import { stringify as yamlText } from "yaml";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { withoutNulls } from "../../../../sdk/config/prime-rl/emit/dry-run.ts";
import { flagText } from "../../../../sdk/config/prime-rl/provenance.ts";
import { resolve, type Resolution } from "../../../../sdk/config/prime-rl/resolve.ts";
import type { Entrypoint } from "../../../../sdk/config/prime-rl/types.ts";
import { rootOf } from "../../../../sdk/config/prime-rl/walk.ts";
import { settingsOf, treeOf, type Setting } from "./generated.ts";
import { toy } from "./toy.ts";

describe("layers", () => {
  it("merge in the order of the words, whatever they are for; flags lie over all of them", async () => {
    const files = {
      "base.toml": '[model]\nname = "base"\nhidden_size = 1\n',
      "model.toml": 'name = "section"\n',
      "late.toml": '[model]\nname = "late"\n',
    };
    const name = async (words: string) => at(await run(words, files), "model");
    expect(await name("@ base.toml --model @ model.toml")).toMatchObject({ name: "section", hidden_size: 1 });
    expect(await name("--model @ model.toml @ late.toml")).toMatchObject({ name: "late", hidden_size: 8 });
    expect(await name("--model.name flag @ base.toml @ late.toml")).toMatchObject({
      name: "flag",
      hidden_size: 1,
    });
  });

  it("take a file for a section, never for a switch or a value", async () => {
    const files = { "root.toml": "seed = 5\n", "comp.toml": 'mode = "f"\n', "envs.json": '[{ "id": "q" }]' };
    expect(at(await run("--enabled @ root.toml", files), "seed")).toBe(5);
    expect(at(await run("--items 1 2 @ root.toml", files), "items")).toEqual([1, 2]);
    expect(at(await run("--model.compile @ comp.toml", files), "model.compile.mode")).toBe("f");
    expect(at(await run("--model.compile @comp.toml", files), "model.compile.mode")).toBe("f");
    expect(at(await run("--envs @ envs.json", files), "envs.0.id")).toBe("q");
    expect(
      at(await run("--envs.0 @ comp.toml --envs.0.id z", { "comp.toml": "workers = 2" }), "envs.0"),
    ).toMatchObject({
      id: "z",
      workers: 2,
    });
    expect((await run("--lr @ root.toml", files)).findings).toMatchObject([{ path: "lr" }]);
    expect(at(await run(["--name", "@alice"]), "name")).toBe("@alice");
  });

  it("resolve old names before they merge, and refuse both in one place", async () => {
    const files = {
      "old.toml": "rollouts_per_example = 4\n",
      "new.toml": "group_size = 8\n",
      "both.toml": "group_size = 8\nrollouts_per_example = 4\n",
    };
    expect(at(await run("@ new.toml @ old.toml", files), "group_size")).toBe(4);
    expect(at(await run("@ old.toml @ new.toml", files), "group_size")).toBe(8);
    expect(at(await run("@ new.toml --rollouts-per-example 2", files), "group_size")).toBe(2);
    expect((await run("@ both.toml", files)).findings).toMatchObject([
      { severity: "error", path: "group_size", file: "both.toml" },
    ]);
  });

  it("drop what only the old variant has when a later one picks another, and say where it was", async () => {
    const files = {
      "a.toml": '[optim]\ntype = "muon"\nlr = 0.5\nmu = 0.1\nmoo = 1\n',
      "b.toml": '[optim]\ntype = "adamw"\n',
    };
    const { findings } = await run("@ a.toml @ b.toml", files);
    expect(findings).toMatchObject([
      { severity: "error", path: "optim.moo", file: "a.toml", line: 5 },
      { severity: "warning", path: "optim.mu", file: "a.toml", line: 4 },
    ]);
    const good = await run("@ a.toml @ b.toml", {
      ...files,
      "a.toml": '[optim]\ntype = "muon"\nlr = 0.5\nmu = 0.1\n',
    });
    expect(at(good, "optim")).toEqual({ type: "adamw", lr: 0.5, betas1: 0.9 });
    expect(
      at(await run("@ a.toml --optim.mu 0.3", { "a.toml": '[optim]\ntype = "muon"\n' }), "optim.mu"),
    ).toBe(0.3);
  });

  it("change places of a list, add one after the last, and leave no gap", async () => {
    const files = { "a.toml": '[[envs]]\nid = "a"\n[[envs]]\nid = "b"\n' };
    expect(at(await run("@ a.toml --envs.1.workers 9 --envs.2.id c", files), "envs")).toEqual([
      { id: "a", workers: 4, args: {} },
      { id: "b", workers: 9, args: {} },
      { id: "c", workers: 4, args: {} },
    ]);
    const merged = await run(
      ["@", "a.toml", "--envs.0.args", '{"k": 1}', "--envs.0.args.other", "yes"],
      files,
    );
    expect(at(merged, "envs.0.args")).toEqual({ k: 1, other: "yes" });
    expect(at(await run(["--envs", '[{"id": "x"}]', "--envs.0.workers", "2"]), "envs.0.workers")).toBe(2);
    expect((await run("@ a.toml --envs.3.id d", files)).findings).toMatchObject([
      { path: "envs.3", hint: expect.stringContaining("the next new one is 2") as string },
    ]);
  });

  it("say the same in TOML, JSON, YAML and flags", async () => {
    const root = rootOf(toy.schema);
    await fc.assert(
      fc.asyncProperty(settingsOf(root, 4), async (generated) => {
        const settings = generated.filter((each) => !generated.some((other) => isAround(other, each)));
        const tree = treeOf({}, settings);
        const toml = await run("@ a.toml", { "a.toml": stringify(withoutNulls(tree, root, [], [])) });
        expect(toml.config).not.toBeNull();
        expect((await run("@ a.json", { "a.json": JSON.stringify(tree) })).config).toEqual(toml.config);
        expect((await run("@ a.yaml", { "a.yaml": yamlText(tree) })).config).toEqual(toml.config);
        expect((await run(settings.map(flagOf))).config).toEqual(toml.config);
      }),
      { numRuns: 100, seed: 9 },
    );
  });
});

describe("what is wrong", () => {
  it("is told all at once, with places and what was meant", async () => {
    const { findings, config } = await run(
      "@ a.toml @ none.toml @ b.json --nam x --lr --optim.lr -1 stray @glued",
      {
        "a.toml": '[model]\nhiden_size = 3\n\n[[envs]]\nworkers = "many"\n',
        "b.json": "{",
      },
    );
    expect(config).toBeNull();
    expect(findings.map(({ path, file, line, code }) => [file, line, path, code])).toEqual([
      [null, null, "lr", "invalid_input"],
      [null, null, "", "unknown_key"],
      [null, null, "", "invalid_input"],
      [null, null, "optim.lr", "invalid_input"],
      [null, null, "nam", "unknown_key"],
      ["a.toml", 2, "model.hiden_size", "unknown_key"],
      ["a.toml", 5, "envs.0.workers", "invalid_input"],
      ["b.json", 1, "", "invalid_input"],
      ["none.toml", null, "", "invalid_input"],
    ]);
    const hints = findings.map(({ hint }) => hint);
    expect(hints).toContain("Did you mean model.hidden_size (--model.hidden-size)?");
    expect(hints).toContain("Did you mean name (--name)?");
    expect(hints).toContain("Mind the space: `@ glued`.");
  });

  it.each([
    ["--hidden-size 3", "Did you mean model.hidden_size (--model.hidden-size)?"],
    ["--modle.name x", "Did you mean model (--model)?"],
    ["--no-nam", "Did you mean name (--name)?"],
    ["--envs.0.worker 1", "Did you mean envs.0.workers (--envs.0.workers)?"],
    ["--optim.betas 1", "Did you mean optim.betas1 (--optim.betas1)?"],
    ["--zzz 1", "See --help for all settings."],
  ])("suggests over whole paths: %s", async (words, hint) => {
    expect((await run(words)).findings).toMatchObject([{ code: "unknown_key", hint }]);
  });

  it.each([
    ["--steps 1.5", 'steps has to be a whole number, not "1.5" (--steps).'],
    ["--group-size 0", "group_size has to be at least 1, not 0 (--group-size)."],
    ["--optim.type lion", 'optim has no type "lion" (--optim.type).'],
    ["--extra x", '--extra is a table, not "x".'],
    ["--extra {bad", "What follows --extra is not JSON"],
    ["--model 5", '--model is a section, and "5" is no value for it.'],
    ["--envs x", 'envs.0 has to be a table, not "x" (--envs).'],
    ["--no-enabled=1", "--no-enabled takes no value."],
    ["--name None", "name has to be a text, not null (--name)."],
    ["--lr inf", 'lr has to be a number, not "inf" (--lr).'],
    ["--lr 1e400", 'lr has to be a number, not "1e400" (--lr).'],
    ["--model.__proto__.x 1", "--model.__proto__.x names no setting."],
    ["--constructor 1", "There is no setting constructor (--constructor)."],
  ])("is said in words: %s", async (words, message) => {
    const { findings } = await run(words);
    expect(findings).toHaveLength(1);
    expect(findings[0]?.message).toContain(message);
  });

  it("never ends in an exception, whatever the words are", async () => {
    const words = fc.constantFrom(
      ..."@ @a.toml a.toml b.json --model --model.ac --no-model.ac --items --envs.0.id --envs.9 --extra --extra.a.b".split(
        " ",
      ),
      ..."--optim --optim.type muon --optim={} --seed= -s -x -1 1e-5 None true [] {} {bad [1,2] --no-on --on=x".split(
        " ",
      ),
      ..."--env-vars.A --a..b -- --= --no- --steps --tags --random-seed --model.name.x --items.0 --items.x".split(
        " ",
      ),
      "",
      '{"__proto__": {"x": 1}}',
      "é 🦊",
    );
    const files = {
      "a.toml": '[model]\nname = "a"\n[[envs]]\n',
      "b.json": '{"optim": {"type": "muon", "mu": 1}}',
    };
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 8 }), async (argv) => {
        const { config, findings } = await run(argv, files);
        const isRefused = findings.some(({ severity }) => severity === "error");
        expect(config === null).toBe(isRefused);
        for (const { message, hint } of findings)
          expect(message && hint, JSON.stringify(findings)).not.toBe("");
      }),
      { numRuns: 500, seed: 4 },
    );
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    const deep = `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`;
    expect((await run(["--extra", deep])).findings).toMatchObject([{ path: "extra" }]);
    expect((await run("@ deep.json", { "deep.json": deep })).findings).toMatchObject([{ file: "deep.json" }]);
    expect((await run([`--${"a.".repeat(5_000)}b=1`])).findings).toMatchObject([{ path: "" }]);
  });
});

describe("rules", () => {
  const ruled: Entrypoint = {
    name: "toy",
    schema: z.strictObject({
      steps: z.int().nullable().default(null),
      part: z
        .strictObject({ steps: z.int().default(1), half: z.int().nullable().default(null) })
        .prefault({}),
    }),
    before(draft) {
      if (draft.has(["old_steps"])) {
        draft.set(["steps"], draft.get(["old_steps"]), { ...draft.originOf(["old_steps"]), kind: "file" });
        draft.remove(["old_steps"]);
      }
      const shared = draft.originOf(["steps"]);
      if (draft.has(["steps"]) && !draft.has(["part", "steps"]))
        draft.set(["part", "steps"], draft.get(["steps"]), { ...shared, kind: "shared", from: "steps" });
    },
    after(config, draft) {
      const steps = draft.get(["part", "steps"]) as number;
      if (draft.get(["part", "half"]) === null)
        draft.set(["part", "half"], steps / 2, { kind: "derived", from: "part.steps" });
      if (steps > 100)
        draft.report({ path: ["part", "steps"], message: "Too many steps.", hint: "Take 100." });
      expect((config.part as { half: number }).half).toBe(draft.get(["part", "half"]));
    },
  };

  it("share and derive values, which know where they come from", async () => {
    const { config, provenance } = await run("@ a.toml", { "a.toml": "\nsteps = 8\n" }, ruled);
    expect(config).toEqual({ steps: 8, part: { steps: 8, half: 4 } });
    expect(provenance).toEqual({
      steps: "a.toml:2",
      "part.steps": "steps (a.toml:2)",
      "part.half": "part.steps",
    });
    expect((await run("--steps 6", {}, ruled)).provenance["part.steps"]).toBe("steps (--steps)");
    expect((await run("@ a.toml", { "a.toml": 'old_steps = "2"' }, ruled)).config).toMatchObject({
      steps: 2,
    });
  });

  it("say what is wrong with a shared value once, where it was given", async () => {
    const { findings } = await run("@ a.toml", { "a.toml": 'steps = "many"' }, ruled);
    expect(findings).toMatchObject([{ path: "steps", file: "a.toml", line: 1 }]);
    const apart = await run("@ a.toml", { "a.toml": 'steps = "many"\npart.steps = "more"' }, ruled);
    expect(apart.findings.map(({ path }) => path)).toEqual(["steps", "part.steps"]);
  });

  it("report at the place of the value, and what they derive is validated", async () => {
    expect((await run("@ a.toml", { "a.toml": "steps = 200" }, ruled)).findings).toMatchObject([
      { path: "part.steps", message: "Too many steps.", file: "a.toml", line: 1 },
    ]);
    expect((await run("--steps 5", {}, ruled)).findings).toMatchObject([{ path: "part.half" }]);
    expect((await run(["@", ""])).findings).toMatchObject([{ message: "@ has no file after it." }]);
  });
});

function run(
  words: string | string[],
  files: Record<string, string> = {},
  entrypoint = toy,
): Promise<Resolution> {
  return resolve(entrypoint, typeof words === "string" ? words.split(" ") : words, {
    readBytes: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return Buffer.from(text);
    },
  });
}

function at({ config, findings }: Resolution, path: string): unknown {
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  return path
    .split(".")
    .reduce<unknown>((held, step) => (held as Record<string, unknown> | undefined)?.[step], config);
}

/** Whether one setting holds the other, or the same again. */
function isAround(other: Setting, setting: Setting): boolean {
  return other !== setting && other.path.every((step, index) => setting.path[index] === step);
}

function flagOf({ path, value }: Setting): string {
  const text = typeof value === "string" ? value : value === null ? "None" : JSON.stringify(value);
  return `${flagText(path)}=${text}`;
}
