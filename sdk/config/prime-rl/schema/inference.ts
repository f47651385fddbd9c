import * as z from "zod";
import { envVars, log, modelFields, slurm } from "./common.ts";
import { bool, choice, float, freeDict, int, list, off, path, section, text } from "./fields.ts";
import { inferenceDeployment } from "./inference-deployment.ts";

const Server = z.strictObject({
  host: text("The address to listen on.", null),
  port: int("The port to listen on.", 8000),
  liveness_timeout_seconds: float("Seconds until a silent worker counts as dead.", 30, { above: 0 }),
});
const Model = z.strictObject({
  ...modelFields,
  dtype: choice(["auto", "float16", "bfloat16", "float32"], "The type of weights and activations.", "auto"),
  max_model_len: int("The longest sequence; null is the model's own.", null),
  enforce_eager: bool("Run without CUDA graphs.", false),
  chat_template: text("A Jinja template, or a file with one, instead of the model's own.", null),
  tool_call_parser: text("How tool calls are read; auto goes by the model's name.", "auto", {
    nullable: true,
  }),
  reasoning_parser: text("How reasoning is read; auto goes by the model's name.", "auto", { nullable: true }),
  rope_scaling: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .nullable()
    .default(null)
    .meta({ description: "How positions are stretched." }),
});
const Parallel = z.strictObject({
  tp: int("How many ways each layer is split.", 1),
  dp: int("How many engines share the requests.", 1, { min: 1 }),
});

const Cpu = z.strictObject({ num_bytes: int("The size, in bytes.", undefined, { above: 0 }) });
const Disk = z.strictObject({ path: path("The folder.") });
const tiers = {
  cpu: off(Cpu, "The host's memory; always needed."),
  disk: off(Disk, "A folder behind the memory."),
};
const Native = z.strictObject({ ...tiers, type: z.literal("native") });
const Mooncake = z.strictObject({
  ...tiers,
  type: z.literal("mooncake"),
  device_name: text("The RDMA device; empty finds one.", ""),
});
const kvCacheOffload = z
  .discriminatedUnion("type", [Native, Mooncake])
  .nullable()
  .default(null)
  .meta({ description: "Keep attention caches outside the GPU too." });

const Broadcast = z.strictObject({
  type: choice(["nccl", "filesystem"], "How new weights arrive.", "filesystem"),
});

export const Inference = z.strictObject({
  server: section(Server, "Where the server listens."),
  model: section(Model, "The model, and how it is served."),
  parallel: section(Parallel, "How the model is spread over GPUs."),
  log,
  env_vars: envVars("Environment variables of the server."),
  enable_lora: bool("Serve LoRA adapters.", false),
  max_loras: int("Adapters in one batch.", 8),
  max_cpu_loras: int("Adapters in the host's memory.", 100),
  max_lora_rank: int("The largest rank of an adapter; rounded up to one that the engine has.", null),
  lora_target_modules: list(z.string(), "The modules that adapters may touch.", null),
  enable_prefix_caching: bool("Keep the caches of common prefixes.", null),
  gpu_memory_utilization: float("The share of a GPU's memory to take.", 0.9),
  api_server_count: int("HTTP front ends; 0 has none.", 1, { min: 0 }),
  data_parallel_size_local: int("Engines on this node.", null, { min: 1 }),
  data_parallel_rpc_port: int("The port that engines talk over.", 13345, { min: 1, max: 65535 }),
  seed: int("The seed.", 0),
  enable_expert_parallel: bool("Split experts over GPUs.", false),
  all2all_backend: choice(
    [
      "allgather_reducescatter",
      "deepep_high_throughput",
      "deepep_low_latency",
      "flashinfer_nvlink_one_sided",
      "flashinfer_nvlink_two_sided",
    ],
    "How experts exchange tokens.",
    "allgather_reducescatter",
  ),
  enable_eplb: bool("Move busy experts around.", false),
  enable_dbo: bool("Overlap two half batches.", false),
  use_deep_gemm: bool("Use the kernels of DeepGEMM.", false),
  weight_broadcast: section(Broadcast, "How new weights arrive."),
  kv_cache_offload: kvCacheOffload,
  use_pd_kv_transfer: bool("Send caches from prefill to decode.", false),
  enable_return_routed_experts: bool("Tell which experts each token took.", false),
  enable_fp32_lm_head: bool("Compute the output layer in float32.", true),
  vllm_extra: freeDict("More vLLM options."),
  deployment: inferenceDeployment,
  slurm,
  output_dir: path("The folder for files.", "outputs"),
  dry_run: bool("Resolve, write the resolved files, and stop.", false),
});
