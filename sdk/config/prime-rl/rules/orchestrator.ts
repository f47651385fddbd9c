import type { OrchestratorConfig } from "./configs.ts";
import { finishEval, finishTrain, isPolicySourced } from "./environments.ts";
import { rendererOf } from "./renderers.ts";
import type { Scope } from "./scope.ts";
import { BENCH_STEPS, finishTokenizer } from "./trainer.ts";

/** Rollouts a step where nothing says how many. */
export const STANDARD_BATCH = 128;

/** What completes and checks an orchestrator, alone or inside `rl`. */
export function finishOrchestrator(scope: Scope<OrchestratorConfig>): void {
  finishTokenizer(scope);
  finishTrain(scope);
  setUpBench(scope);
  if (scope.value.eval) finishEval(scope.within("eval"));
  const { extra_headers_from_state } = scope.value.model.client;
  if (!("X-Session-ID" in extra_headers_from_state))
    scope.derive(
      ["model", "client", "extra_headers_from_state", "X-Session-ID"],
      "trajectory_id",
      scope.name("model", "client"),
    );
  const { prime_monitor, wandb } = scope.value;
  if (prime_monitor?.run_name === null && wandb?.name)
    scope.derive(["prime_monitor", "run_name"], wandb.name, scope.name("wandb", "name"));
  checkFilters(scope);
  checkPool(scope);
  checkRenderer(scope);
  finishBatch(scope);
}

function setUpBench(scope: Scope<OrchestratorConfig>): void {
  if (!scope.value.bench) return;
  const from = scope.name("bench");
  scope.derive(["max_steps"], BENCH_STEPS, from);
  scope.derive(["eval"], null, from);
  for (const reporter of ["wandb", "prime_monitor"] as const)
    if (scope.value[reporter]) scope.derive([reporter, "log_extras"], null, from);
}

function checkFilters(scope: Scope<OrchestratorConfig>): void {
  for (const slot of ["pre_batch_filters", "post_batch_filters"] as const) {
    const types = scope.value[slot].map(({ type }) => type);
    for (const [index, type] of types.entries())
      if (types.indexOf(type) !== index)
        scope.error([slot, index, "type"], `${slot} has two ${type} filters.`, "Keep one of each type.");
  }
}

function checkPool(scope: Scope<OrchestratorConfig>): void {
  if (scope.value.pool_size === null || scope.value.train.env.some(isPolicySourced)) return;
  scope.error(
    ["pool_size"],
    "There is nothing to render in a pool: no environment samples from the policy.",
    "Remove pool_size.",
  );
}

/** `auto` never falls back to another renderer unseen: tokens would differ from the model's own. */
function checkRenderer(scope: Scope<OrchestratorConfig>): void {
  const model = scope.value.tokenizer.name ?? scope.value.model.name;
  if (scope.value.renderer.name !== "auto" || rendererOf(model)) return;
  scope.error(
    ["renderer", "name"],
    `No renderer is known for ${model}, so auto cannot choose one.`,
    `Set ${scope.name("renderer", "name")} = "default" to render by the chat template, or name the renderer of the model it descends from.`,
  );
}

function finishBatch(scope: Scope<OrchestratorConfig>): void {
  const { batch_size, token_batch_size } = scope.value;
  if (batch_size !== null && token_batch_size !== null)
    scope.error(
      ["token_batch_size"],
      "batch_size counts rollouts and token_batch_size tokens; both are set.",
      "Remove one of them.",
    );
  else if (token_batch_size !== null) checkTokenBatch(scope);
  else finishRolloutBatch(scope);
  const { max_inflight_rollouts, group_size } = scope.value;
  if (max_inflight_rollouts !== null && max_inflight_rollouts < group_size)
    scope.error(
      ["max_inflight_rollouts"],
      `A group of ${group_size} does not fit into ${max_inflight_rollouts} rollouts at once.`,
      `Set it to ${group_size} or more.`,
    );
}

function checkTokenBatch(scope: Scope<OrchestratorConfig>): void {
  if (scope.value.oversampling_factor !== null)
    scope.error(
      ["oversampling_factor"],
      "oversampling_factor multiplies batch_size, and the batch is counted in tokens.",
      "Set max_inflight_rollouts instead.",
    );
  if (scope.value.max_inflight_rollouts === null)
    scope.error(
      ["token_batch_size"],
      "A batch counted in tokens does not say how many rollouts may run at once.",
      `Set ${scope.name("max_inflight_rollouts")}.`,
    );
}

function finishRolloutBatch(scope: Scope<OrchestratorConfig>): void {
  if (scope.value.batch_size === null) scope.derive(["batch_size"], STANDARD_BATCH, "default");
  const { batch_size, group_size, oversampling_factor, max_inflight_rollouts } = scope.value;
  const size = batch_size ?? STANDARD_BATCH;
  if (size % group_size !== 0)
    scope.error(
      ["batch_size"],
      `A batch of ${size} rollouts does not divide into groups of ${group_size}.`,
      `Take a multiple of ${group_size}: ${Math.ceil(size / group_size) * group_size}.`,
    );
  const rollouts = Math.max(group_size, Math.trunc(size * (oversampling_factor ?? 1)));
  if (max_inflight_rollouts === null)
    scope.derive(["max_inflight_rollouts"], rollouts, scope.name("batch_size"));
  else if (oversampling_factor !== null && max_inflight_rollouts !== rollouts)
    scope.error(
      ["max_inflight_rollouts"],
      `max_inflight_rollouts is ${max_inflight_rollouts}, but batch_size times oversampling_factor is ${rollouts}.`,
      "Set one of the two.",
    );
}
