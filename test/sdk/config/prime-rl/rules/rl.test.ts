import { describe, expect, it } from "vitest";
import { BASE, configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const rl = (overlay: string, flags: string[] = []) => resolving("rl", [BASE, overlay], flags);

const SLURM = "[slurm]\n";
const NODES = `${SLURM}[deployment]\ntype = "multi_node"\nnum_train_nodes = 1\nnum_infer_nodes = 2\n`;

describe("what components have to say alike", () => {
  it.each([
    ["ckpt on the orchestrator only", "[orchestrator.ckpt]", ["orchestrator.ckpt"]],
    [
      "ckpt every other number of steps",
      "[trainer.ckpt]\ninterval = 2\n[orchestrator.ckpt]\ninterval = 3",
      ["trainer.ckpt.interval"],
    ],
    [
      "resuming from two steps",
      "[trainer.ckpt]\nresume_step = 2\n[orchestrator.ckpt]\nresume_step = 3",
      ["trainer.ckpt.resume_step"],
    ],
    ["wandb on the trainer only", "[trainer.wandb]", ["trainer.wandb"]],
    [
      "two wandb projects",
      '[trainer.wandb]\nproject = "a"\n[orchestrator.wandb]\nproject = "b"',
      ["trainer.wandb.project"],
    ],
    [
      "two chat templates",
      '[trainer.tokenizer]\nchat_template = "x"',
      ["orchestrator.tokenizer.chat_template"],
    ],
    [
      "two ways for weights",
      '[trainer.weight_broadcast]\ntype = "nccl"',
      ["inference.weight_broadcast.type", "orchestrator.weight_broadcast.type"],
    ],
    ["eplb without quantized weights", "[inference]\nenable_eplb = true", ["inference.enable_eplb"]],
    ["one side that measures", "[orchestrator]\nbench = true", ["orchestrator.bench"]],
  ])("%s", async (_, overlay, paths) => {
    expect(errorsOf(await rl(overlay))).toEqual(paths);
  });

  it("the models, which no shared field sets", async () => {
    const other = BASE.replace('[model]\nname = "Qwen/Qwen3-0.6B"', "");
    expect(errorsOf(await resolving("rl", [other], ["--inference.model.name", "Qwen/Qwen3-4B"]))).toEqual([
      "inference.model.name",
    ]);
    expect(
      errorsOf(await resolving("rl", [other], ["--no-inference", "--trainer.model.name", "Qwen/Qwen3-4B"])),
    ).toEqual(["trainer.model.name"]);
  });
});

describe("the hardware", () => {
  it.each([
    [
      "more GPUs than the node has",
      "[deployment]\nnum_train_gpus = 4\nnum_infer_gpus = 5",
      ["deployment.num_infer_gpus"],
    ],
    ["engines that do not fit", "[inference.parallel]\ntp = 4", ["inference.parallel.tp"]],
    [
      "nodes without servers",
      `${NODES}`.replace("num_infer_nodes = 2", "num_infer_nodes = 0"),
      ["deployment.num_infer_nodes"],
    ],
    [
      "groups of nodes that do not fit",
      `${NODES}nodes_per_fsdp_group = 2`,
      ["deployment.nodes_per_fsdp_group"],
    ],
    [
      "experts on too few GPUs",
      `${NODES}[inference]\nenable_expert_parallel = true`,
      ["inference.parallel.dp"],
    ],
    [
      "prefill and decode on other nodes than there are",
      `${NODES}[inference.deployment]\ntype = "disaggregated"\nnum_prefill_nodes = 2`,
      ["deployment.num_infer_nodes"],
    ],
    [
      "mooncake without slurm",
      '[inference.kv_cache_offload]\ntype = "mooncake"\ncpu = { num_bytes = 1 }',
      ["inference.kv_cache_offload.type"],
    ],
  ])("%s", async (_, overlay, paths) => {
    const found = errorsOf(await rl(overlay));
    expect([...new Set(found)]).toEqual(paths);
  });

  it("fills one node: engines, front ends, workers and clients follow", async () => {
    const config = configOf(
      await rl("[deployment]\nnum_train_gpus = 2\nnum_infer_gpus = 6\n[inference.parallel]\ntp = 2"),
    );
    expect(config).toMatchObject({
      inference: { parallel: { tp: 2, dp: 3 }, api_server_count: 3 },
      orchestrator: { num_train_workers: 2, model: { client: { dp_rank_count: 3 } } },
    });
    await expectFixed("rl", config);
  });

  it("warns where engines were counted otherwise", async () => {
    const { findings, config } = await rl("[inference.parallel]\ndp = 4");
    expect(findings).toMatchObject([
      { severity: "warning", path: "inference.parallel.dp", file: "1.toml", line: 2 },
    ]);
    expect(config).toMatchObject({ inference: { parallel: { dp: 1 } } });
  });

  it("spreads experts over all nodes", async () => {
    const config = configOf(
      await rl(`${NODES}[inference]\nenable_expert_parallel = true\n[inference.parallel]\ndp = 16`),
    );
    expect(config).toMatchObject({
      inference: { data_parallel_size_local: 8, api_server_count: 8, parallel: { dp: 16 } },
    });
    await expectFixed("rl", config);
  });

  it("names the role of each engine that reads or writes", async () => {
    const disaggregated = `${NODES}[inference.deployment]\ntype = "disaggregated"\n[inference.parallel]\ntp = 4`;
    const config = configOf(await rl(disaggregated));
    expect(config).toMatchObject({
      orchestrator: { inference_metrics_roles: ["prefill", "prefill", "decode", "decode"] },
      inference: { use_pd_kv_transfer: true, enable_expert_parallel: true, data_parallel_size_local: 2 },
    });
    await expectFixed("rl", config);
  });
});

describe("weights over NCCL", () => {
  it("count the GPUs that the deployment gives, not those that a default gave", async () => {
    const config = configOf(await rl('[weight_broadcast]\ntype = "nccl"\n[deployment]\nnum_infer_gpus = 6'));
    expect(config).toMatchObject({
      trainer: { weight_broadcast: { inference_world_size: 6, host: "localhost" } },
      orchestrator: { weight_broadcast: { inference_world_size: 6 } },
    });
    await expectFixed("rl", config);
  });

  it("listen on every address once there are several nodes", async () => {
    const config = configOf(await rl(`[weight_broadcast]\ntype = "nccl"\n${NODES}num_infer_replicas = 2`));
    expect(config).toMatchObject({
      trainer: { weight_broadcast: { inference_world_size: 32, host: "0.0.0.0" } },
    });
    await expectFixed("rl", config);
  });

  it.each([
    [
      "another port",
      '[weight_broadcast]\ntype = "nccl"\n[trainer.weight_broadcast]\nport = 1',
      ["trainer.weight_broadcast.port"],
    ],
    [
      "quantized without NCCL",
      "[weight_broadcast]\nquantize_in_weight_transfer = true",
      ["weight_broadcast.quantize_in_weight_transfer"],
    ],
  ])("refuse %s", async (_, overlay, paths) => {
    expect([...new Set(errorsOf(await rl(overlay)))]).toEqual(paths);
  });
});

describe("an adapter", () => {
  it("is named and served as it is trained", async () => {
    const config = configOf(await rl("[trainer.model.lora]\nrank = 20\nalpha = 0.5"));
    expect(config).toMatchObject({
      orchestrator: { model: { lora: { name: "r20-a0.5", rank: 20, alpha: 0.5 } } },
      inference: { enable_lora: true, max_lora_rank: 32, api_server_count: 1 },
    });
    await expectFixed("rl", config);
  });

  it("is served at a larger rank where one is asked for", async () => {
    const config = configOf(await rl("[trainer.model.lora]\n[inference]\nmax_lora_rank = 64"));
    expect(config).toMatchObject({ inference: { max_lora_rank: 64 } });
  });

  it("has one rank and one scale", async () => {
    const both = "[trainer.model.lora]\n[orchestrator.model.lora]\nrank = 8\nalpha = 1";
    expect(errorsOf(await rl(both))).toEqual([
      "orchestrator.model.lora.alpha",
      "orchestrator.model.lora.rank",
    ]);
  });

  it("warns where the servers are somebody else's", async () => {
    const { findings } = await rl("[trainer.model.lora]", ["--no-inference"]);
    expect(findings).toMatchObject([{ severity: "warning", path: "trainer.model.lora" }]);
  });
});

describe("router replay", () => {
  it("makes the servers tell which experts they took", async () => {
    const config = configOf(await rl("[trainer]\nenable_router_replay = true"));
    expect(config).toMatchObject({ inference: { enable_return_routed_experts: true } });
  });

  it("refuses what would hide them", async () => {
    const hidden =
      '[trainer]\nenable_router_replay = true\n[inference.deployment.router]\ntype = "llm-d"\n' +
      '[inference.kv_cache_offload]\ntype = "native"\ncpu = { num_bytes = 1 }';
    expect(errorsOf(await rl(hidden))).toEqual([
      "inference.deployment.router.type",
      "inference.kv_cache_offload",
    ]);
  });
});

describe("bench", () => {
  it("takes four steps on both sides, on made-up data, and saves nothing", async () => {
    const config = configOf(
      await rl('bench = true\n[ckpt]\n[orchestrator.eval]\n[[orchestrator.eval.env]]\nid = "x"'),
    );
    expect(config).toMatchObject({
      max_steps: 4,
      trainer: { max_steps: 4, ckpt: null, data: { fake: { batch_size: 128 } } },
      orchestrator: { max_steps: 4, ckpt: null, eval: null, bench: true },
    });
    await expectFixed("rl", config);
  });
});
