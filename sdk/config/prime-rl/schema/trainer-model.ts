import * as z from "zod";
import { modelFields } from "./common.ts";
import { bool, choice, float, int, list, off, on, section, text } from "./fields.ts";

/** Where LoRA goes unless told otherwise; names that a model does not have are passed over. */
export const LORA_TARGETS = [
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
  "experts",
  "fc1_latent_proj",
  "fc2_latent_proj",
];

const Lora = z.strictObject({
  rank: int("The rank of the adapter.", 16, { min: 1 }),
  alpha: float("The scale of the adapter.", 32, { min: 0 }),
  dropout: float("Dropout before the adapter.", 0, { min: 0, max: 1 }),
  target_modules: list(z.string(), "The modules that get an adapter: names, or patterns.", LORA_TARGETS),
  modules_to_save: list(z.string(), "Modules that train in full beside the adapter.", []),
});
const Compile = z.strictObject({ fullgraph: bool("Compile each block as one graph.", false) });
const ActivationCheckpointing = z.strictObject({
  mode: choice(["full", "selective"], "Whole blocks, or only the targets.", "full"),
  freq: int("Every how many layers.", 1, { min: 1 }),
  targets: list(z.string(), "What the selective mode recomputes.", ["norm"]),
});
const ActivationOffloading = z.strictObject({
  pin_memory: bool("Pin the memory of offloaded activations.", true),
  max_inflight_activations: int("How many are on their way at once.", 5, { min: 1 }),
});
const IndexCache = z.strictObject({
  topk_freq: int("Recompute the indices every so many layers.", 1, { min: 1 }),
  topk_pattern: text("F computes and S reuses, a letter a layer; goes before topk_freq.", null),
});
const Debug = z.strictObject({
  num_layers: int("Cut the model to so many layers.", null),
  random_init: bool("Begin with random weights.", false),
  force_balanced_routing: bool("Give every expert the same share.", false),
});

export const TrainerModel = z.strictObject({
  ...modelFields,
  seq_len: int("The longest sequence that is trained, in tokens.", 2048),
  attn: choice(
    ["eager", "sdpa", "flash_attention_2", "flash_attention_3", "fa4"],
    "The attention kernels. flash_attention_4 is another name for fa4.",
    "flash_attention_2",
  ),
  compile: on(Compile, "Compile the model."),
  ac: on(ActivationCheckpointing, "Recompute activations instead of keeping them."),
  ac_offloading: on(ActivationOffloading, "Move activations to the host's memory; turns ac on."),
  fsdp_cpu_offload: bool("Keep parameters, gradients and optimizer state in the host's memory.", false),
  optim_cpu_offload: bool("Keep the optimizer's state in the host's memory.", true),
  reshard_after_forward: bool("Shard again after each forward pass.", true),
  dp_replicate: int("How many copies of the sharded weights.", 1),
  ep: z
    .union([z.int(), z.literal("auto")])
    .default("auto")
    .meta({ description: "How many ways experts are split; auto decides by the model." }),
  ep_comm_backend: choice(["torch", "deepep"], "How experts exchange tokens.", "torch"),
  deepep_num_sms: int("Multiprocessors that deepep may use.", 20, { min: 1 }),
  deepep_token_chunk_size: int("Tokens a chunk when deepep is pipelined.", null, { min: 1 }),
  cp: int("How many ways a sequence is split.", 1),
  cp_style: choice(["ring", "ulysses"], "How the parts of a sequence exchange.", "ring"),
  impl: choice(["hf", "custom", "auto"], "Whose model code runs.", "auto"),
  optimization_dtype: choice(["bfloat16", "float32"], "The type weights are optimized in.", "float32"),
  reduce_dtype: choice(["bfloat16", "float32"], "The type gradients are summed in.", "float32"),
  moe_use_grouped_mm: bool("One grouped product for all experts.", true),
  fp8: bool("Train linear layers in FP8.", false),
  index_cache: off(IndexCache, "Reuse the indices of sparse attention between layers."),
  freeze_moe_router: bool("Leave the routers of experts as they are.", false),
  lora: off(Lora, "Train a LoRA adapter instead of the weights."),
  debug: section(Debug, "Switches for finding faults."),
  fused_lm_head_token_chunk_size: z
    .union([z.int(), z.literal("disabled")])
    .default(1024)
    .meta({ description: "Tokens a chunk in the fused output layer, or disabled." }),
});
export const trainerModel = section(TrainerModel, "The model, and how it is spread over the hardware.");
