import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromHead } from "../../../../../sdk/config/prime-rl/emit/from-head.ts";
import { headFiles, toHead } from "../../../../../sdk/config/prime-rl/emit/head.ts";
import { ENTRYPOINTS, type EntrypointName } from "../../../../../sdk/config/prime-rl/entrypoints.ts";
import { resolve } from "../../../../../sdk/config/prime-rl/resolve.ts";
import { BASE, configOf, resolving } from "../rules/resolving.ts";

const root = join(import.meta.dirname, "../../../../..");

const TASKS = BASE.replace(
  'id = "reverse-text"',
  'name = "r"\ntaskset = { id = "reverse-text-v1", level = 2 }\nharness = { id = "null", runtime = { type = "docker" } }\n' +
    'max_turns = 3\naddress = "tcp://x:1"',
);

const pathsOf = (reports: readonly { path: readonly unknown[] }[]) =>
  reports.map(({ path }) => path.join("."));

describe("files for the newer version", () => {
  // The classes of that version accept these files; see docs/coverage.md.
  it.each(["wiki_search", "hendrycks_sanity"])("of %s are those that it accepts", async (name) => {
    const config = configOf(await resolve(ENTRYPOINTS.rl, ["@", `examples/${name}/rl.toml`], { cwd: root }));
    const [file] = headFiles("rl", config).files;
    const accepted = readFileSync(join(root, `test/fixtures/prime-rl/head/${name}__rl.json`), "utf8");
    expect(file?.name).toBe("rl.json");
    expect(JSON.parse(file?.text ?? "")).toEqual(JSON.parse(accepted));
  });

  it("put what runs, who runs it and where in places of their own", async () => {
    const { tree, dropped } = toHead("rl", configOf(await resolving("rl", [TASKS])));
    expect(dropped).toEqual([]);
    expect(tree).toMatchObject({
      orchestrator: {
        train: {
          filter_zero_advantages: true,
          source: [
            {
              name: "r",
              env: {
                taskset: { id: "reverse-text-v1", level: 2 },
                agent: { harness: { id: "null" }, runtime: { type: "docker" }, max_turns: 3 },
              },
              serve: { address: "tcp://x:1", max_concurrent: 32, pool: { type: "elastic" } },
            },
          ],
        },
        model: { client: { base_url: "http://localhost:8000/v1" } },
      },
      inference: { vllm: { model: "Qwen/Qwen3-0.6B", tensor_parallel_size: 1, tool_call_parser: "hermes" } },
      weight_broadcast: { type: "filesystem" },
      run: { name: "outputs", dir: "outputs" },
      output_dir: ".",
    });
  });

  it.each([
    ["an environment by id", "", ["orchestrator.train.env.0.id"]],
    ["attention", '[trainer.model]\nattn = "sdpa"', ["trainer.model.attn"]],
    [
      "a filter",
      '[[orchestrator.post_batch_filters]]\ntype = "gibberish"\nenforce = true',
      ["orchestrator.post_batch_filters"],
    ],
    [
      "several addresses",
      '[orchestrator.model.client]\nbase_url = ["a", "b"]',
      ["orchestrator.model.client.base_url"],
    ],
    [
      "weights beside checkpoints",
      '[ckpt]\n[trainer.ckpt.weights]\nsave_format = "torch"',
      ["trainer.ckpt.weights"],
    ],
    ["a variable of its launcher", '[env_vars]\nWANDB_RUN_ID = "x"', ["env_vars.WANDB_RUN_ID"]],
    ["a router's own port", "[inference.deployment.router]\nport = 9", ["inference.deployment.router.port"]],
    ["a measurement", "bench = true", ["bench", "orchestrator.bench", "trainer.bench"]],
  ])("say what they leave out: %s", async (name, overlay, paths) => {
    const base = name === "an environment by id" ? BASE : TASKS;
    const { dropped } = toHead("rl", configOf(await resolving("rl", [base, overlay])));
    expect(pathsOf(dropped).toSorted()).toEqual(paths);
    expect(dropped.every(({ code, severity }) => code === "setting_dropped" && severity === "warning")).toBe(
      true,
    );
  });

  it("carry over what has another form", async () => {
    const overlay = `
clean_output_dir = true
output_dir = "/runs/seven"
[ckpt]
resume_step = -1
[wandb]
name = "w"
[trainer.model]
fp8 = true
[orchestrator]
oversampling_factor = 2.0
[[orchestrator.pre_batch_filters]]
type = "zero_advantage"
[inference]
vllm_extra = { max_num_seqs = 9 }
`;
    expect(toHead("rl", configOf(await resolving("rl", [TASKS, overlay]))).tree).toMatchObject({
      clean: true,
      output_dir: "/runs",
      run: { dir: "seven" },
      resume: {},
      monitors: { wandb: { name: "w" } },
      trainer: { resume: {}, model: { quantization: { type: "fp8" } }, monitors: { wandb: { name: "w" } } },
      orchestrator: {
        concurrency: { min_inflight: 256, max_inflight: 256 },
        train: { source: [{ curriculum: { gates: { zero_advantage: { reject_max: 0 } } } }] },
      },
      inference: { vllm: { max_num_seqs: 9 } },
    });
  });

  it("count nodes a replica", async () => {
    const toml =
      '[slurm]\n[deployment]\ntype = "disaggregated"\nnum_prefill_nodes = 4\nnum_prefill_replicas = 2\nrouter = { type = "llm-d" }';
    expect(toHead("inference", configOf(await resolving("inference", [toml]))).tree).toMatchObject({
      deployment: { prefill_nodes_per_replica: 2, decode_nodes_per_replica: 1, num_prefill_replicas: 2 },
      router: { type: "llm-d", non_cached_tokens: 16 },
      backend_port: 8100,
    });
  });

  it("ask for a renderer where sft went without one", async () => {
    const own = toHead("sft", configOf(await resolving("sft", ['[model]\nname = "me/mine"'])));
    expect(pathsOf(own.dropped)).toEqual(["renderer"]);
    expect(toHead("sft", configOf(await resolving("sft", [""]))).dropped).toEqual([]);
  });
});

describe("files of the newer version in the names of this one", () => {
  it.each([
    ["rl", TASKS],
    ["rl", `${TASKS}\n[ckpt]\nresume_step = 3\n[wandb]\nname = "w"\n[trainer.model.lora]\nrank = 8`],
    [
      "inference",
      '[slurm]\n[deployment]\ntype = "disaggregated"\nnum_prefill_nodes = 4\nnum_prefill_replicas = 2',
    ],
    ["trainer", '[optim]\ntype = "muon"\n[model]\nfp8 = true\nattn = "flash_attention_3"'],
    ["sft", '[deployment]\nnum_gpus = 4\n[data]\nname = "x"\n[renderer]\nname = "qwen3"'],
  ] as const)("come back as they went: %s", async (name: EntrypointName, toml) => {
    const config = configOf(await resolving(name, [toml]));
    const back = fromHead(name, toHead(name, config).tree);
    expect(back.dropped).toEqual([]);
    const again = await resolve(ENTRYPOINTS[name], ["@", "again.json"], {
      readBytes: () => Buffer.from(JSON.stringify(back.tree)),
    });
    expect(configOf(again)).toEqual(config);
  });

  it("resolve when people wrote them", async () => {
    const { tree, dropped } = fromHead("rl", {
      max_steps: 20,
      clean: true,
      model: { name: "Qwen/Qwen3-4B-Instruct-2507" },
      monitors: { wandb: { project: "p" } },
      resume: { step: 4 },
      ckpt: {},
      trainer: { model: { attn: "auto", lora: { rank: 8 } } },
      orchestrator: {
        batch_size: 128,
        train: {
          source: [
            { name: "w", env: { taskset: { id: "wiki-search" }, agent: { harness: { id: "null" } } } },
          ],
        },
      },
      inference: { vllm: { max_model_len: 9, max_num_seqs: 4 } },
    });
    expect(dropped).toEqual([]);
    const config = configOf(
      await resolve(ENTRYPOINTS.rl, ["@", "x.json"], { readBytes: () => Buffer.from(JSON.stringify(tree)) }),
    );
    expect(config).toMatchObject({
      clean_output_dir: true,
      trainer: { ckpt: { resume_step: 4 }, wandb: { project: "p" } },
      orchestrator: { train: { env: [{ taskset: { id: "wiki-search" }, harness: { id: "null" } }] } },
      inference: { model: { max_model_len: 9 }, vllm_extra: { max_num_seqs: 4 } },
    });
  });

  it("say NCCL where that goes without saying there", () => {
    expect(fromHead("rl", { trainer: {}, inference: {} }).tree).toMatchObject({
      weight_broadcast: { type: "nccl" },
    });
    expect(fromHead("rl", { trainer: {} }).tree).not.toHaveProperty("weight_broadcast");
  });

  it("say what has no place here", () => {
    const { dropped } = fromHead("rl", {
      trainer: { model: { quantization: { type: "mxfp8" }, full_offload: {} } },
      orchestrator: {
        concurrency: { initial_inflight: 4 },
        train: { source: [{ env: { taskset: { id: "w" }, player: { max_turns: 6 } } }] },
      },
      weight_broadcast: { type: "nixl" },
      resume: { dir: "other/checkpoints/step_5" },
    });
    expect(pathsOf(dropped).toSorted()).toEqual([
      "orchestrator.concurrency",
      "orchestrator.train.source.0.env.player",
      "resume.dir",
      "trainer.model.full_offload",
      "trainer.model.quantization",
      "weight_broadcast",
    ]);
  });
});
