import type { SftConfig, TrainerConfig } from "./configs.ts";
import type { Scope } from "./scope.ts";
import { checkModel } from "./trainer-model.ts";

/** How many steps a measurement takes: one to warm up, three that count. */
export const BENCH_STEPS = 4;

/** What completes and checks a trainer, alone or inside `rl`. */
export function finishTrainer(scope: Scope<TrainerConfig>): void {
  const { model } = scope.value;
  checkModel(scope.within("model"));
  checkVision(scope);
  setUpBench(scope);
  finishTraining(scope);
  if (model.optim_cpu_offload && scope.value.max_concurrent_runs > 1)
    scope.error(
      ["max_concurrent_runs"],
      "Several runs cannot share a trainer whose optimizer is offloaded.",
      `Add ${scope.name("model", "optim_cpu_offload")} = false.`,
    );
  if (model.lora && scope.value.weight_broadcast.type === "nccl")
    scope.error(
      ["model", "lora"],
      "NCCL does not send LoRA adapters.",
      `Use weight_broadcast.type = "filesystem", or train without LoRA.`,
    );
  if (scope.value.enable_router_replay && model.impl === "hf")
    scope.error(
      ["enable_router_replay"],
      "Router replay needs the custom implementation.",
      `Set ${scope.name("model", "impl")} to custom or auto.`,
    );
}

function checkVision(scope: Scope<TrainerConfig>): void {
  const { vlm, lora, optimization_dtype, reduce_dtype } = scope.value.model;
  if (!vlm) return;
  for (const [key, type] of Object.entries({ optimization_dtype, reduce_dtype }))
    if (type !== "bfloat16")
      scope.error(
        ["model", key],
        `A vision-language model trains in bfloat16, as it is served; ${key} is ${type}.`,
        `Set ${scope.name("model", key)} = "bfloat16".`,
      );
  if (!vlm.freeze_vision_encoder && lora)
    scope.error(
      ["model", "vlm", "freeze_vision_encoder"],
      "LoRA freezes the vision encoder with all else that is no adapter.",
      "Leave it frozen, or train without LoRA.",
    );
}

function setUpBench(scope: Scope<TrainerConfig>): void {
  if (!scope.value.bench) return;
  const from = scope.name("bench");
  scope.derive(["max_steps"], BENCH_STEPS, from);
  scope.derive(["ckpt"], null, from);
  if (!scope.value.data.fake)
    scope.derive(["data", "fake"], { batch_size: 2, generate_samples: false }, from);
}

/** What a trainer and `sft` have in common. */
export function finishTraining(scope: Scope<TrainerConfig> | Scope<SftConfig>): void {
  const { model, optim, ckpt, trace_path, max_steps } = scope.value;
  if (model.ep_comm_backend === "deepep" && optim.max_norm !== null) {
    scope.warn(
      ["optim", "max_norm"],
      "Gradients are not clipped: deepep cannot do that.",
      `Set ${scope.name("optim", "max_norm")} = "None".`,
    );
    scope.derive(["optim", "max_norm"], null, scope.name("model", "ep_comm_backend"));
  }
  if (optim.type === "muon" && model.fsdp_cpu_offload)
    scope.error(
      ["optim", "type"],
      "muon cannot train parameters that are offloaded.",
      `Remove ${scope.name("model", "fsdp_cpu_offload")}, or use adamw.`,
    );
  if (ckpt?.weights?.save_adapter_separately && !model.lora)
    scope.error(
      ["ckpt", "weights", "save_adapter_separately"],
      "There is no adapter to save: the model trains without LoRA.",
      `Add [${scope.name("model", "lora")}], or remove save_adapter_separately.`,
    );
  if (trace_path !== null && (max_steps === null || max_steps >= 10))
    scope.error(
      ["trace_path"],
      "A trace of more than nine steps is too large to read.",
      `Set max_steps below 10; it is ${max_steps ?? "not set"}.`,
    );
  finishTokenizer(scope);
}

interface WithTokenizer {
  model: Pick<TrainerConfig["model"], "name" | "trust_remote_code">;
  tokenizer: TrainerConfig["tokenizer"];
}

/** The tokenizer is the model's unless it is named. */
export function finishTokenizer(scope: Scope<WithTokenizer>): void {
  const { model, tokenizer } = scope.value;
  if (tokenizer.name === null) scope.derive(["tokenizer", "name"], model.name, scope.name("model", "name"));
  if (tokenizer.trust_remote_code === null)
    scope.derive(
      ["tokenizer", "trust_remote_code"],
      model.trust_remote_code,
      scope.name("model", "trust_remote_code"),
    );
}
