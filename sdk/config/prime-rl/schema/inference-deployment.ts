import * as z from "zod";
import { envVars } from "./common.ts";
import { dict, freeDict, int, text, variants } from "./fields.ts";

const VllmRouter = z.strictObject({
  type: z.literal("vllm-router"),
  port: int("The port of the router.", 8000),
  policy: text("How it chooses: consistent_hash, round_robin.", "consistent_hash"),
});

/** What the llm-d router can weigh. */
export const SCORERS: ReadonlySet<string> = new Set([
  "active-request-scorer",
  "kv-cache-utilization-scorer",
  "latency-scorer",
  "load-aware-scorer",
  "lora-affinity-scorer",
  "precise-prefix-cache-scorer",
  "prefix-cache-scorer",
  "queue-scorer",
  "running-requests-size-scorer",
  "session-affinity-scorer",
  "token-load-scorer",
]);

function scorers(help: string, standard: Record<string, number>) {
  return dict(z.number(), help, standard);
}
const LlmdRouter = z.strictObject({
  type: z.literal("llm-d"),
  port: int("The port of the router.", 8000),
  scorers: scorers("What the router weighs, and how much.", {
    "prefix-cache-scorer": 3,
    "active-request-scorer": 2,
  }),
  prefill_scorer_overrides: scorers("Other weights for prefill.", {
    "queue-scorer": 2,
    "kv-cache-utilization-scorer": 2,
  }),
  decode_scorer_overrides: scorers("Other weights for decode.", {}),
  non_cached_tokens: int("Prompts with fewer new tokens are not sent to prefill.", 16),
  decode_sidecar_port: int("The port of the decode side's helper.", 8300),
});

const shared = {
  gpus_per_node: int("GPUs a node.", 8),
  backend_port: int("The first port of the engines behind the router.", 8100),
  router: variants("type", [VllmRouter, LlmdRouter], "vllm-router", "The router before the engines."),
};
const SingleNode = z.strictObject({ ...shared, type: z.literal("single_node") });
const MultiNode = z.strictObject({
  ...shared,
  type: z.literal("multi_node"),
  num_nodes: int("Nodes, an independent server on each.", 2, { min: 1 }),
});
const atLeastOne = (help: string) => int(help, 1, { min: 1 });
const Disaggregated = z.strictObject({
  ...shared,
  type: z.literal("disaggregated"),
  num_prefill_nodes: atLeastOne("Nodes that read prompts."),
  num_decode_nodes: atLeastOne("Nodes that write answers."),
  num_prefill_replicas: atLeastOne("Servers that the prefill nodes form."),
  num_decode_replicas: atLeastOne("Servers that the decode nodes form."),
  prefill_port: int("The port of prefill.", 8100),
  decode_port: int("The port of decode.", 8200),
  prefill_env_vars: envVars("More environment variables of prefill."),
  decode_env_vars: envVars("More environment variables of decode."),
  prefill_vllm_overrides: freeDict("Other vLLM options for prefill."),
  decode_vllm_overrides: freeDict("Other vLLM options for decode."),
});

export const inferenceDeployment = variants(
  "type",
  [SingleNode, MultiNode, Disaggregated],
  "single_node",
  "The nodes that serve.",
);
