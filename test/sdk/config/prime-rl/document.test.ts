import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDryRun } from "../../../../sdk/cli/commands/rl-files.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";
import { helpGroups } from "../../../../sdk/config/prime-rl/help.ts";
import { resolve } from "../../../../sdk/config/prime-rl/resolve.ts";
import { rootOf } from "../../../../sdk/config/prime-rl/walk.ts";
import { BLOCKS, FILES, type Block } from "./document-blocks.ts";

const root = join(import.meta.dirname, "../../../..");
let cwd = "";

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "spotter-document-"));
  symlinkSync(join(root, "examples"), join(cwd, "examples"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function resolved(entrypoint: EntrypointName, words: readonly string[]) {
  const { config, findings } = await resolve(ENTRYPOINTS[entrypoint], words, { cwd });
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  return config ?? {};
}

const at = (tree: unknown, path: string) =>
  path.split(".").reduce<unknown>((held, step) => (held as Record<string, unknown> | null)?.[step], tree);

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function run({ entrypoint = "rl", files = {}, words }: Block) {
  for (const [name, text] of Object.entries({ ...FILES, ...files })) writeFileSync(join(cwd, name), text);
  return resolved(entrypoint, words);
}

describe("the code blocks of the documentation", () => {
  it.each(BLOCKS.map((each) => [each.block, each] as const))("%s", async (_, block) => {
    const config = await run(block);
    for (const [path, value] of Object.entries(block.expected))
      if (isTable(value)) expect(at(config, path)).toMatchObject(value);
      else expect([path, at(config, path)]).toEqual([path, value]);
  });

  it("Inspecting and validating: the help names every setting", () => {
    const rows = helpGroups(rootOf(ENTRYPOINTS.rl.schema), []).flatMap((group) => group.rows);
    const flags = rows.map(({ flag }) => flag).join("\n");
    for (const flag of ["--max-steps", "--trainer.optim", "--orchestrator.train.env", "--inference.model"])
      expect(flags).toContain(flag);
    expect(rows.length).toBeGreaterThan(300);
  });

  it("Inspecting and validating: a dry run writes the resolved files", async () => {
    const config = await run({
      block: "",
      words: ["@", "rl.toml", "--dry-run", "--output-dir", "check"],
      expected: {},
    });
    expect(config).toMatchObject({ dry_run: true, output_dir: "check" });
    expect(writeDryRun("rl", config, cwd).findings).toEqual([]);
    expect(readdirSync(join(cwd, "check"))).toEqual(["configs"]);
  });
});

describe("the worked example", () => {
  it("composes, overrides, dry-runs, and starts each process from its own file", async () => {
    const config = await resolved("rl", [
      ...["@", "examples/reverse_text/rl.toml", "--wandb.name", "my-experiment"],
      ...["--trainer.optim.lr", "5e-6", "--output-dir", "reverse-dry", "--dry-run"],
    ]);
    expect(config).toMatchObject({
      wandb: { name: "my-experiment" },
      trainer: { optim: { lr: 5e-6 }, wandb: { name: "my-experiment" }, output_dir: "reverse-dry" },
      orchestrator: { output_dir: "reverse-dry/run_default" },
    });
    writeDryRun("rl", config, cwd);
    expect(readdirSync(join(cwd, "reverse-dry/configs")).toSorted()).toEqual([
      "inference.toml",
      "orchestrator.toml",
      "rl.toml",
      "trainer.toml",
    ]);
    for (const part of ["trainer", "orchestrator", "inference"] as const)
      expect(await resolved(part, ["@", `reverse-dry/configs/${part}.toml`])).toEqual(config[part]);
    expect(await resolved("rl", ["@", "reverse-dry/configs/rl.toml"])).toEqual({ ...config, dry_run: false });
  });
});
