import type { TrainerModelConfig } from "./configs.ts";
import type { Scope } from "./scope.ts";

const FLASH = ["flash_attention_2", "flash_attention_3", "fa4"];

/** What the settings of a model to train demand of each other. */
export function checkModel(scope: Scope<TrainerModelConfig>): void {
  checkAttention(scope);
  checkRecomputing(scope);
  checkExperts(scope);
  const { trust_remote_code, impl, fp8, fsdp_cpu_offload, optim_cpu_offload } = scope.value;
  if (trust_remote_code && impl === "custom")
    scope.error(
      ["trust_remote_code"],
      "Code from the model's repository runs only with its own implementation.",
      `Set ${scope.name("impl")} to hf or auto.`,
    );
  if (fp8 && impl === "hf")
    scope.error(
      ["fp8"],
      "FP8 needs the custom implementation.",
      `Set ${scope.name("impl")} to custom or auto.`,
    );
  if (fsdp_cpu_offload && optim_cpu_offload)
    scope.error(
      ["fsdp_cpu_offload"],
      "fsdp_cpu_offload and optim_cpu_offload exclude each other.",
      `Add ${scope.name("optim_cpu_offload")} = false: the other one offloads the optimizer too.`,
    );
}

function checkAttention(scope: Scope<TrainerModelConfig>): void {
  const { attn, impl, cp } = scope.value;
  const toCustom = `Set ${scope.name("impl")} = "custom".`;
  if (cp > 1 && !FLASH.includes(attn))
    scope.error(
      ["attn"],
      `${attn} cannot split sequences (cp = ${cp}).`,
      "Use flash_attention_2, flash_attention_3 or flash_attention_4.",
    );
  if (attn === "fa4" && impl !== "custom")
    scope.error(["attn"], "flash_attention_4 needs the custom implementation.", toCustom);
  else if (cp > 1 && attn === "flash_attention_3" && impl !== "custom")
    scope.error(["attn"], "flash_attention_3 splits sequences only in the custom implementation.", toCustom);
}

function checkRecomputing(scope: Scope<TrainerModelConfig>): void {
  const { ac, ac_offloading, impl } = scope.value;
  if (ac_offloading && !ac)
    scope.derive(["ac"], { mode: "full", freq: 1, targets: ["norm"] }, scope.name("ac_offloading"));
  if (!ac) return;
  scope.derive(["ac", "targets"], [...new Set(ac.targets)], scope.name("ac", "targets"));
  if (ac.mode !== "selective") return;
  if (ac.targets.length === 0)
    scope.error(
      ["ac", "targets"],
      "Nothing is selected to recompute.",
      `Name a target, or set mode = "full".`,
    );
  if (impl === "hf")
    scope.error(
      ["ac", "mode"],
      "Selective recomputing needs the custom implementation.",
      `Set ${scope.name("impl")} to custom or auto.`,
    );
}

function checkExperts(scope: Scope<TrainerModelConfig>): void {
  const { ep, ep_comm_backend, impl } = scope.value;
  if (ep_comm_backend !== "torch" && typeof ep === "number" && ep <= 1)
    scope.error(
      ["ep_comm_backend"],
      `${ep_comm_backend} exchanges tokens between experts, and ep = ${ep} does not split them.`,
      `Set ${scope.name("ep")} above 1, or ep_comm_backend = "torch".`,
    );
  if (typeof ep === "number" && ep !== 1 && impl === "hf")
    scope.error(
      ["ep"],
      "Splitting experts needs the custom implementation.",
      `Set ${scope.name("impl")} to custom or auto.`,
    );
}
