import { resumeToHead } from "./resume.ts";
import type { Conversion } from "./tree.ts";

const GONE = "the newer version has no such setting.";

/** The trainer's model. */
export function modelToHead(it: Conversion, at: string): void {
  const attention = it.take(`${at}attn`);
  if (attention === "eager" || attention === "sdpa") {
    it.lose(`${at}attn`, `the newer version has no ${attention} attention.`);
  } else it.put(`${at}attn`, attention === "fa4" ? "flash_attention_4" : attention);
  if (it.take(`${at}fp8`) === true) it.put(`${at}quantization`, { type: "fp8" });
}

/** What a trainer and `sft` have in common. `at` ends with a dot, or is empty. */
export function trainingToHead(it: Conversion, at: string): void {
  modelToHead(it, `${at}model.`);
  it.move(`${at}wandb`, `${at}monitors.wandb`);
  it.drop(`${at}bench`, GONE);
  checkpointToHead(it, at);
}

/** Checkpoints lose the weights beside them, and what to resume from stands by itself. */
export function checkpointToHead(it: Conversion, at: string): void {
  it.drop(`${at}ckpt.weights`, "weights are converted afterwards.", {
    save_sharded: true,
    save_format: "safetensors",
    save_adapter_separately: false,
  });
  it.drop(`${at}ckpt.weights_only`, "weights are converted afterwards.", false);
  it.drop(`${at}ckpt.skip_gather_master_weights`, "weights are converted afterwards.", false);
  it.move(`${at}ckpt.resume_step`, `${at}resume`, resumeToHead);
}

export function trainerToHead(it: Conversion, at: string): void {
  trainingToHead(it, at);
  it.drop(`${at}max_concurrent_runs`, "the newer version trains one run.", 1);
  it.drop(`${at}weight_broadcast.save_sharded`, GONE, true);
  it.drop(`${at}weight_broadcast.save_format`, GONE, "safetensors");
}

/** Names that the newer launcher sets itself. */
const PROTECTED = [
  "PRL_RUN_ID",
  "PRL_RUN_NAME",
  "WANDB_RUN_ID",
  "WANDB_SHARED_FINISHER",
  "WANDB_SHARED_PRIMARY",
];

export function envVarsToHead(it: Conversion, at: string): void {
  for (const name of PROTECTED) it.drop(`${at}env_vars.${name}`, "the newer launcher sets it itself.");
}

/** Servers: what vLLM is told stands in one table, by vLLM's own names. */
export function inferenceToHead(it: Conversion, at: string): void {
  it.move(`${at}model.name`, `${at}vllm.model`);
  it.drop(`${at}model.vlm`, "the servers find it out themselves.");
  for (const [key, value] of Object.entries(it.takeTable(`${at}model`) ?? {}))
    it.put(`${at}vllm.${key}`, value);
  it.move(`${at}parallel.tp`, `${at}vllm.tensor_parallel_size`);
  it.move(`${at}parallel.dp`, `${at}vllm.data_parallel_size`);
  it.take(`${at}parallel`);
  for (const key of SAME_IN_VLLM) it.move(`${at}${key}`, `${at}vllm.${key}`);
  for (const [key, value] of Object.entries(it.takeTable(`${at}vllm_extra`) ?? {}))
    it.put(`${at}vllm.${key}`, value);
  deploymentToHead(it, at);
}

/** Settings of vLLM that have the same name in both versions. */
export const SAME_IN_VLLM = [
  "enable_lora",
  "max_loras",
  "max_cpu_loras",
  "max_lora_rank",
  "lora_target_modules",
  "enable_prefix_caching",
  "gpu_memory_utilization",
  "api_server_count",
  "data_parallel_size_local",
  "data_parallel_rpc_port",
  "seed",
  "enable_expert_parallel",
  "all2all_backend",
  "enable_eplb",
  "enable_dbo",
  "enable_return_routed_experts",
];

function deploymentToHead(it: Conversion, at: string): void {
  it.move(`${at}deployment.backend_port`, `${at}backend_port`);
  const router = it.takeTable(`${at}deployment.router`);
  if (router) {
    const { port, ...rest } = router;
    if (port !== undefined && port !== 8000)
      it.lose(`${at}deployment.router.port`, "the router listens where the server does.");
    it.put(`${at}router`, rest);
  }
  for (const role of ["prefill", "decode"]) {
    const nodes = it.take(`${at}deployment.num_${role}_nodes`);
    const replicas = it.peek(`${at}deployment.num_${role}_replicas`);
    if (typeof nodes === "number")
      it.put(
        `${at}deployment.${role}_nodes_per_replica`,
        nodes / (typeof replicas === "number" ? replicas : 1),
      );
  }
}
