import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { embeddedFindings, ruleOf } from "../../../../../sdk/config/prime-rl/embedded/classify.ts";
import { RL_FIELDS, SFT_FIELDS } from "../../../../../sdk/config/prime-rl/embedded/fields.ts";
import { ENTRYPOINTS } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import { fieldsOf } from "../schema/fields-of.ts";
import { BASE, resolving } from "../rules/resolving.ts";

const root = join(import.meta.dirname, "../../../../..");

/** Every setting, the tables that only hold others left out, the variants of unions side by side. */
function pathsOf(name: "rl" | "sft"): string[] {
  const rows = fieldsOf(ENTRYPOINTS[name].schema);
  const plain = rows.map(({ path }) => path.replace(/<[^>]*>/g, ""));
  return [...new Set(plain)].filter((path) => !plain.some((other) => other.startsWith(`${path}.`)));
}

describe("the table of the embedded engine", () => {
  it.each(["rl", "sft"] as const)("classes every setting of %s", (name) => {
    const paths = pathsOf(name);
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.filter((path) => ruleOf(name, path) === undefined)).toEqual([]);
  });

  it("has no line that is about nothing", () => {
    for (const [rules, name] of [
      [RL_FIELDS, "rl"],
      [SFT_FIELDS, "sft"],
    ] as const) {
      const used = new Set(pathsOf(name).map((path) => ruleOf(name, path)));
      const idle = rules.filter((rule) => !used.has(rule));
      // Blocks that all parts share name what some part does not have.
      expect(idle.filter(({ pattern }) => !isShared(pattern)).map(({ pattern }) => pattern)).toEqual([]);
    }
  });

  it("says why, or what to do instead", () => {
    expect([...RL_FIELDS, ...SFT_FIELDS].filter(({ note }) => note.length < 9)).toEqual([]);
  });
});

const SHARED =
  /^(|trainer\.|orchestrator\.|inference\.)(env_vars|wandb|log|ckpt|heartbeat|slurm|dry_run|output_dir|clean_output_dir|tokenizer|model\.(trust_remote_code|vlm|name)|bench|trace_path|memory_profiler_path)/;
const PER_LIST = /^orchestrator\.(train|eval)\b/;
const isShared = (pattern: string) =>
  SHARED.test(pattern) || PER_LIST.test(pattern) || pattern.startsWith("val.data");

describe("a configuration on the embedded engine", () => {
  it.each(["reverse_text", "wordle", "alphabet_sort", "wiki_search", "hendrycks_sanity"])(
    "%s has nothing that is refused",
    async (name) => {
      const words = ["@", `examples/${name}/rl.toml`, "--model.name", "spotter/nano"];
      const { config, provenance } = await resolve(ENTRYPOINTS.rl, words, { cwd: root });
      const findings = embeddedFindings("rl", config ?? {}, provenance);
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    },
  );

  it("is told once what changes nothing, by all names", async () => {
    const { config, provenance } = await resolving("rl", [BASE, '[trainer.model]\nattn = "sdpa"\ncp = 1']);
    expect(embeddedFindings("rl", config ?? {}, provenance)).toMatchObject([
      {
        severity: "warning",
        code: "setting_ignored",
        message: expect.stringContaining("trainer.model.attn, trainer.model.cp") as string,
      },
    ]);
  });

  it("is refused what it cannot have, each at its place, and not what is so anyway", async () => {
    const overlay = `
[trainer.optim]
type = "muon"
[trainer.model.lora]
dropout = 0.1
[orchestrator]
token_batch_size = "None"
[[orchestrator.post_batch_filters]]
type = "zero_advantage"
enforce = true
[[orchestrator.post_batch_filters]]
type = "repetition"
enforce = true
`;
    const { config, provenance } = await resolving("rl", [BASE, overlay]);
    const errors = embeddedFindings("rl", config ?? {}, provenance).filter(
      ({ severity }) => severity === "error",
    );
    expect(errors).toMatchObject([
      { path: "trainer.model.lora.dropout", line: 5 },
      { path: "orchestrator.post_batch_filters.1.enforce", line: 13 },
    ]);
  });

  it("does not mind what follows from other settings", async () => {
    const { config, provenance } = await resolving("sft", ['[model]\nname = "spotter/nano"']);
    expect(embeddedFindings("sft", config ?? {}, provenance)).toEqual([]);
  });
});
