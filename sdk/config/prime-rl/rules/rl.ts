import type { RlConfig } from "./configs.ts";
import { checkRoutedExperts, finishInference, finishLora } from "./inference.ts";
import { finishOrchestrator, STANDARD_BATCH } from "./orchestrator.ts";
import { checkShared, liftShared } from "./rl-agreement.ts";
import { finishDeployment } from "./rl-deployment.ts";
import { finishBroadcast } from "./rl-broadcast.ts";
import type { Scope } from "./scope.ts";
import { BENCH_STEPS, finishTrainer } from "./trainer.ts";

/** What completes and checks a run: each component by itself, then what they have to agree on. */
export function finishRl(scope: Scope<RlConfig>): void {
  setUpBench(scope);
  finishTrainer(scope.within("trainer"));
  finishOrchestrator(scope.within("orchestrator"));
  if (scope.value.inference) finishInference(scope.within("inference"));
  finishAdapter(scope);
  finishRouterReplay(scope);
  finishDeployment(scope);
  if (scope.value.inference) finishLora(scope.within("inference"));
  finishBroadcast(scope);
  liftShared(scope);
  checkShared(scope);
}

function setUpBench(scope: Scope<RlConfig>): void {
  const { bench, trainer, orchestrator } = scope.value;
  if (bench) {
    scope.derive(["trainer", "bench"], trainer.bench ?? { output_json: null }, "bench");
    scope.derive(["orchestrator", "bench"], true, "bench");
    for (const at of [["ckpt"], ["orchestrator", "ckpt"]]) scope.derive(at, null, "bench");
    if (scope.value.max_steps !== null) scope.derive(["max_steps"], BENCH_STEPS, "bench");
    const { batch_size, token_batch_size } = orchestrator;
    const size = batch_size ?? (token_batch_size === null ? STANDARD_BATCH : 32);
    if (!trainer.data.fake)
      scope.derive(["trainer", "data", "fake"], { batch_size: size, generate_samples: false }, "bench");
  } else if ((trainer.bench !== null) !== orchestrator.bench)
    scope.error(
      [trainer.bench ? "trainer" : "orchestrator", "bench"],
      "Only one of trainer and orchestrator measures.",
      "Set bench = true for both.",
    );
}

/** Orchestrator and servers take the adapter from the trainer. */
function finishAdapter(scope: Scope<RlConfig>): void {
  const { trainer, orchestrator, inference } = scope.value;
  const { lora } = trainer.model;
  if (!lora) return;
  const from = "trainer.model.lora";
  if (!orchestrator.model.lora)
    scope.derive(["orchestrator", "model", "lora"], { name: null, rank: null, alpha: null }, from);
  for (const key of ["rank", "alpha"] as const) {
    const own = scope.value.orchestrator.model.lora?.[key] ?? null;
    if (own !== null && own !== lora[key])
      scope.error(
        ["orchestrator", "model", "lora", key],
        `The orchestrator asks for ${key} ${own}, and the trainer trains ${key} ${lora[key]}.`,
        `Remove orchestrator.model.lora.${key} to take the trainer's.`,
      );
    else scope.derive(["orchestrator", "model", "lora", key], lora[key], `${from}.${key}`);
  }
  if (!scope.value.orchestrator.model.lora?.name)
    scope.derive(["orchestrator", "model", "lora", "name"], `r${lora.rank}-a${asFloat(lora.alpha)}`, from);
  if (!inference) {
    scope.warn(
      ["trainer", "model", "lora"],
      "The servers are not started from here, and have to serve LoRA adapters.",
      `Start them with enable_lora and max_lora_rank = ${lora.rank}.`,
    );
    return;
  }
  scope.derive(["inference", "enable_lora"], true, from);
  const served = inference.max_lora_rank;
  if (served === null || served < lora.rank)
    scope.derive(["inference", "max_lora_rank"], lora.rank, `${from}.rank`);
}

/** 32 as "32.0": the adapter's name is the one that the pinned trainer gives. */
function asFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e16) return value.toFixed(1);
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

function finishRouterReplay(scope: Scope<RlConfig>): void {
  const { trainer, inference } = scope.value;
  if (!trainer.enable_router_replay) return;
  if (!inference) {
    scope.warn(
      ["trainer", "enable_router_replay"],
      "The servers are not started from here, and have to tell which experts each token took.",
      "Start them with enable_return_routed_experts.",
    );
    return;
  }
  scope.derive(["inference", "enable_return_routed_experts"], true, "trainer.enable_router_replay");
  checkRoutedExperts(scope.within("inference"));
  if (inference.kv_cache_offload)
    scope.error(
      ["inference", "kv_cache_offload"],
      "Caches from outside the GPU do not tell which experts their tokens took, and router replay needs to know.",
      "Remove [inference.kv_cache_offload], or trainer.enable_router_replay.",
    );
}
