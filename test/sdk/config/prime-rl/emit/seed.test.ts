import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { seedFiles } from "../../../../../sdk/config/prime-rl/emit/seed.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import { BASE, configOf, resolving } from "../rules/resolving.ts";

const root = join(import.meta.dirname, "../../../../..");

async function example(name: string) {
  const entrypoint: EntrypointName = name.endsWith("sft.toml") ? "sft" : "rl";
  return configOf(await resolve(ENTRYPOINTS[entrypoint], ["@", join("examples", name)], { cwd: root }));
}

async function again(name: EntrypointName, text = "") {
  return configOf(await resolving(name, [text]));
}

function textsOf(name: EntrypointName, config: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(seedFiles(name, config).files.map((file) => [file.name, file.text]));
}

const OVERLAYS = [
  [
    "switched off",
    '[trainer.model]\ncompile = "None"\n[trainer.optim]\nmax_norm = "None"\n[trainer]\ngc = "None"',
  ],
  ["resumed", '[ckpt]\nresume_step = -1\n[wandb]\nname = "x"'],
  ["an adapter", "[trainer.model.lora]\nrank = 8"],
  ["NCCL", '[weight_broadcast]\ntype = "nccl"\n[deployment]\nnum_infer_gpus = 2'],
  [
    "what environments do not inherit",
    '[orchestrator.eval.sampling]\ntop_p = 0.9\n[[orchestrator.eval.env]]\nid = "a"\nsampling = { top_p = "None" }',
  ],
  ["what one side does not share", '[ckpt]\nkeep_last = 3\n[orchestrator.ckpt]\nkeep_last = "None"'],
  ["what both sides do not do", '[ckpt]\n[trainer]\nckpt = "None"\n[orchestrator]\nckpt = "None"'],
  ["another folder in the run's", '[orchestrator]\noutput_dir = "outputs/seven"'],
  ["a measurement", "bench = true\n[ckpt]"],
  ["what all components do", "[log]\njson_logging = true"],
  ["what one component does by itself", "[trainer.log]\njson_logging = true"],
] as const;

describe("files for the pinned version", () => {
  it.each(OVERLAYS)("say the same again: %s", async (_, overlay) => {
    const config = configOf(await resolving("rl", [BASE, overlay]));
    const { files, reports } = seedFiles("rl", config);
    expect(reports).toEqual([]);
    expect(files.map(({ name }) => name)).toEqual([
      "rl.toml",
      "trainer.toml",
      "orchestrator.toml",
      "inference.toml",
    ]);
    const texts = textsOf("rl", config);
    expect(await again("rl", texts["rl.toml"])).toEqual(config);
    expect(await again("trainer", texts["trainer.toml"])).toEqual(config.trainer);
    expect(await again("orchestrator", texts["orchestrator.toml"])).toEqual(config.orchestrator);
  });

  it.each(["reverse_text/rl.toml", "wiki_search/rl.toml", "wordle/sft.toml"])(
    "say %s again",
    async (name) => {
      const entrypoint = name.endsWith("sft.toml") ? "sft" : "rl";
      const config = await example(name);
      expect(await again(entrypoint, textsOf(entrypoint, config)[`${entrypoint}.toml`])).toEqual(config);
    },
  );

  it("leave nulls out unless they mean something", async () => {
    const config = configOf(await resolving("trainer", ['[model]\ncompile = "None"']));
    const text = textsOf("trainer", config)["trainer.toml"] ?? "";
    expect(text.match(/.*"None"/g)).toEqual(['compile = "None"']);
  });

  it("tell servers nothing of the launcher", async () => {
    const text = textsOf("rl", await example("reverse_text/rl.toml"))["inference.toml"] ?? "";
    expect(text).toContain("[model]");
    expect(text).not.toMatch(/deployment|slurm|output_dir|dry_run/);
  });

  it("leave out a shared default that a component contradicts", async () => {
    const config = configOf(await resolving("rl", [BASE, "[trainer.log]\njson_logging = true"]));
    expect(
      textsOf("rl", config)
        ["rl.toml"]?.match(/json_logging = \w+/g)
        ?.toSorted(),
    ).toEqual(["json_logging = false", "json_logging = false", "json_logging = true"]);
  });

  it("warn of texts that it would read as something else, and of nulls that TOML cannot hold", async () => {
    const args = '[[train.env]]\nid = "a"\nargs = { n = "1", b = "True", s = "007", t = "x" }';
    const config = configOf(await resolving("orchestrator", [args]));
    const paths = seedFiles("orchestrator", config).reports.map(({ path }) => path.join("."));
    expect(paths).toEqual(["train.env.0.args.n", "train.env.0.args.b"]);
    const flags = ["--train.env.0.args", '{"a": null, "n": "1"}'];
    const withNull = configOf(await resolving("orchestrator", ['[[train.env]]\nid = "a"'], flags));
    expect(seedFiles("orchestrator", withNull).reports.map(({ path }) => path.join("."))).toEqual([
      "train.env.0.args.n",
      "train.env.0.args.a",
    ]);
  });
});
