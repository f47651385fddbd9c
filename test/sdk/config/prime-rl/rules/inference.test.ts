import { describe, expect, it } from "vitest";
import { reasoningParser, toolCallParser } from "../../../../../sdk/config/prime-rl/rules/parsers.ts";
import { rendererOf } from "../../../../../sdk/config/prime-rl/rules/renderers.ts";
import { configOf, errorsOf, expectFixed, resolving } from "./resolving.ts";

const inference = (toml: string) => resolving("inference", [toml]);
const NODES = '[slurm]\n[deployment]\ntype = "disaggregated"\n';

describe("servers refuse", () => {
  it.each([
    ["several nodes without slurm", '[deployment]\ntype = "multi_node"', ["deployment.type"]],
    [
      "replicas that nodes do not fill",
      `${NODES}num_prefill_nodes = 3\nnum_prefill_replicas = 2`,
      ["deployment.num_prefill_replicas"],
    ],
    [
      "an unknown scorer",
      `${NODES}[deployment.router]\ntype = "llm-d"\nscorers = { "x-scorer" = 1 }`,
      ["deployment.router.scorers.x-scorer"],
    ],
    [
      "routed experts through llm-d",
      `enable_return_routed_experts = true\n${NODES}router = { type = "llm-d" }`,
      ["deployment.router.type"],
    ],
    ["caches elsewhere without memory", '[kv_cache_offload]\ntype = "native"', ["kv_cache_offload.cpu"]],
    [
      "caches elsewhere without prefixes",
      'enable_prefix_caching = false\n[kv_cache_offload]\ntype = "native"\ncpu = { num_bytes = 1 }',
      ["enable_prefix_caching"],
    ],
    ["caches without a kind", "[kv_cache_offload]\ncpu = { num_bytes = 1 }", ["kv_cache_offload"]],
    ["adapters that the engine cannot hold", "max_lora_rank = 600", ["max_lora_rank"]],
    [
      "a variable that the launcher owns, in a role",
      `${NODES}decode_env_vars = { WANDB_SHARED_MODE = "1" }`,
      ["deployment.decode_env_vars.WANDB_SHARED_MODE"],
    ],
  ])("%s", async (_, toml, paths) => {
    expect(errorsOf(await inference(toml))).toEqual(paths);
  });
});

describe("servers complete", () => {
  it("the rank of adapters, and one front end for them", async () => {
    const config = configOf(await inference("enable_lora = true\nmax_lora_rank = 20\n[parallel]\ndp = 4"));
    expect(config).toMatchObject({ max_lora_rank: 32, api_server_count: 1 });
    await expectFixed("inference", config);
  });

  it("a front end for each engine, or none", async () => {
    expect(configOf(await inference("[parallel]\ndp = 4"))).toMatchObject({ api_server_count: 4 });
    expect(configOf(await inference("api_server_count = 2\n[parallel]\ndp = 4"))).toMatchObject({
      api_server_count: 2,
    });
    expect(configOf(await inference("vllm_extra = { headless = true }"))).toMatchObject({
      api_server_count: 0,
    });
  });

  it("prefixes where caches are kept", async () => {
    const toml = '[kv_cache_offload]\ntype = "native"\ncpu = { num_bytes = 1 }\ndisk = { path = "d" }';
    expect(configOf(await inference(toml))).toMatchObject({ enable_prefix_caching: true });
  });

  it("nodes that read and nodes that write", async () => {
    const config = configOf(await inference(`${NODES}[parallel]\ntp = 2`));
    expect(config).toMatchObject({
      use_pd_kv_transfer: true,
      enable_expert_parallel: true,
      data_parallel_size_local: 4,
      parallel: { dp: 4 },
      api_server_count: 4,
    });
    await expectFixed("inference", config);
    expect(configOf(await inference(`enable_expert_parallel = false\n${NODES}`))).toMatchObject({
      enable_expert_parallel: false,
    });
  });

  it("the parsers from the model's name, unless they are named or switched off", async () => {
    const toml = '[model]\nname = "Qwen/Qwen3-30B-A3B-Thinking-2507"\n';
    expect(configOf(await inference(toml))).toMatchObject({
      model: { tool_call_parser: "hermes", reasoning_parser: "deepseek_r1" },
    });
    const own = `${toml}tool_call_parser = "None"\nreasoning_parser = "mine"`;
    expect(configOf(await inference(own))).toMatchObject({
      model: { tool_call_parser: null, reasoning_parser: "mine" },
    });
  });

  it.each([
    ["Qwen/Qwen3-4B-Instruct-2507", "hermes", null, "qwen3"],
    ["Qwen/Qwen3-Coder-30B", "qwen3_coder", null, undefined],
    ["Qwen/Qwen3.5-9B", "qwen3_coder", "qwen3", "qwen3.5"],
    ["zai-org/GLM-4.5-Air", "glm45", "glm45", "glm-4.5"],
    ["zai-org/GLM-4.7-Flash", "glm47", "glm45", "glm-5"],
    ["zai-org/GLM-5.1", "glm47", "glm45", "glm-5.1"],
    ["deepseek-ai/DeepSeek-V3.1", "deepseek_v31", "deepseek_r1", undefined],
    ["deepseek-ai/DeepSeek-V3.2-Exp", "deepseek_v32", "deepseek_r1", undefined],
    ["MiniMaxAI/MiniMax-M2.5", "minimax_m2", "minimax_m2_append_think", "minimax-m2"],
    ["PrimeIntellect/INTELLECT-3.1", "qwen3_coder", "deepseek_r1", undefined],
    ["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen3_coder", "nano_v3", "nemotron-3"],
    ["nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", "qwen3_coder", "nemotron_v3", "nemotron-3"],
    ["stepfun-ai/Step-3.5-Flash", "step3p5", "step3p5", undefined],
    ["me/Qwen3-4B", null, null, undefined],
  ])("what is known of %s", (model, toolCalls, reasoning, renderer) => {
    expect([toolCallParser(model), reasoningParser(model), rendererOf(model)]).toEqual([
      toolCalls,
      reasoning,
      renderer,
    ]);
  });
});
