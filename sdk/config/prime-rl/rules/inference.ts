import { SCORERS } from "../schema/inference-deployment.ts";
import type { InferenceConfig } from "./configs.ts";
import { reasoningParser, toolCallParser } from "./parsers.ts";
import type { Scope } from "./scope.ts";

/** The adapter ranks that the engine is built for. */
const LORA_RANKS = [8, 16, 32, 64, 128, 256, 320, 512];

/** What completes and checks a server, alone or inside `rl`. */
export function finishInference(scope: Scope<InferenceConfig>): void {
  const { model, deployment, slurm } = scope.value;
  for (const [key, parser] of [
    ["tool_call_parser", toolCallParser],
    ["reasoning_parser", reasoningParser],
  ] as const)
    if (model[key] === "auto") scope.derive(["model", key], parser(model.name), scope.name("model", "name"));
  if (deployment.type !== "single_node" && !slurm)
    scope.error(
      ["deployment", "type"],
      "Several nodes are started through SLURM.",
      `Add [${scope.name("slurm")}].`,
    );
  checkRouter(scope);
  checkReplicas(scope);
  finishOffload(scope);
  finishDisaggregated(scope);
  finishServers(scope);
  finishLora(scope);
}

function checkRouter(scope: Scope<InferenceConfig>): void {
  const { router } = scope.value.deployment;
  if (router.type !== "llm-d") return;
  checkRoutedExperts(scope);
  for (const key of ["scorers", "prefill_scorer_overrides", "decode_scorer_overrides"] as const)
    for (const name of Object.keys(router[key]).filter((each) => !SCORERS.has(each)))
      scope.error(
        ["deployment", "router", key, name],
        `The llm-d router has no scorer ${name}.`,
        `It has ${[...SCORERS].join(", ")}.`,
      );
}

/** Also asked by `rl`, once router replay has turned routed experts on. */
export function checkRoutedExperts(scope: Scope<InferenceConfig>): void {
  const { deployment, enable_return_routed_experts } = scope.value;
  if (deployment.router.type === "llm-d" && enable_return_routed_experts)
    scope.error(
      ["deployment", "router", "type"],
      "The llm-d router does not carry the experts that tokens took.",
      'Use type = "vllm-router".',
    );
}

function checkReplicas(scope: Scope<InferenceConfig>): void {
  const { deployment } = scope.value;
  if (deployment.type !== "disaggregated") return;
  for (const role of ["prefill", "decode"] as const) {
    const [nodes, replicas] = [deployment[`num_${role}_nodes`], deployment[`num_${role}_replicas`]];
    if (nodes % replicas !== 0)
      scope.error(
        ["deployment", `num_${role}_replicas`],
        `${nodes} nodes do not divide into ${replicas} replicas.`,
        `Choose a divisor of num_${role}_nodes.`,
      );
  }
}

function finishOffload(scope: Scope<InferenceConfig>): void {
  const { kv_cache_offload, enable_prefix_caching } = scope.value;
  if (!kv_cache_offload) return;
  if (!kv_cache_offload.cpu)
    scope.error(
      ["kv_cache_offload", "cpu"],
      "Caches go through the host's memory, and none is set aside.",
      `Add [${scope.name("kv_cache_offload", "cpu")}] with num_bytes.`,
    );
  if (enable_prefix_caching === false)
    scope.error(
      ["enable_prefix_caching"],
      "Caches that are kept elsewhere are caches of prefixes, and those are off.",
      "Remove enable_prefix_caching = false.",
    );
  else scope.derive(["enable_prefix_caching"], true, scope.name("kv_cache_offload"));
}

function finishDisaggregated(scope: Scope<InferenceConfig>): void {
  const { deployment, parallel, data_parallel_size_local, api_server_count } = scope.value;
  if (deployment.type !== "disaggregated") return;
  const from = scope.name("deployment", "type");
  scope.derive(["use_pd_kv_transfer"], true, from);
  if (!scope.isGiven("enable_expert_parallel")) scope.derive(["enable_expert_parallel"], true, from);
  const perNode = Math.trunc(deployment.gpus_per_node / parallel.tp);
  if (data_parallel_size_local === null) scope.derive(["data_parallel_size_local"], perNode, from);
  if (parallel.dp === 1) scope.derive(["parallel", "dp"], perNode, from);
  if (api_server_count === 1) scope.derive(["api_server_count"], perNode, from);
}

function finishServers(scope: Scope<InferenceConfig>): void {
  const { vllm_extra, data_parallel_size_local, parallel, api_server_count } = scope.value;
  if (vllm_extra["headless"]) {
    scope.derive(["api_server_count"], 0, scope.name("vllm_extra"));
    return;
  }
  const engines = data_parallel_size_local ?? parallel.dp;
  if (!scope.isGiven("api_server_count") && api_server_count < engines)
    scope.derive(["api_server_count"], engines, scope.name("parallel", "dp"));
}

/** The engine serves adapters from one front end, at ranks it is built for. */
export function finishLora(scope: Scope<InferenceConfig>): void {
  const { enable_lora, max_lora_rank, vllm_extra } = scope.value;
  if (enable_lora && !vllm_extra["headless"])
    scope.derive(["api_server_count"], 1, scope.name("enable_lora"));
  if (max_lora_rank === null) return;
  const rank = LORA_RANKS.find((each) => each >= max_lora_rank);
  if (rank === undefined)
    scope.error(
      ["max_lora_rank"],
      `The engine serves adapters up to rank ${LORA_RANKS.at(-1)}, not ${max_lora_rank}.`,
      "Train a smaller rank.",
    );
  else scope.derive(["max_lora_rank"], rank, scope.name("max_lora_rank"));
}
