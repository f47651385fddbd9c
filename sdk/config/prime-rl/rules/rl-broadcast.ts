import type { RlConfig } from "./configs.ts";
import type { Scope } from "./scope.ts";

/** Gives every component the same way for weights, and counts the GPUs that receive them once those are known. */
export function finishBroadcast(scope: Scope<RlConfig>): void {
  const { weight_broadcast: shared, deployment, inference } = scope.value;
  if (!shared) return;
  if (shared.quantize_in_weight_transfer) checkQuantized(scope);
  if (inference)
    scope.derive(["inference", "weight_broadcast", "type"], shared.type, "weight_broadcast.type");
  if (shared.type !== "nccl") return;
  const isMultiNode = deployment.type === "multi_node";
  const receivers = isMultiNode
    ? deployment.num_infer_nodes * deployment.num_infer_replicas * deployment.gpus_per_node
    : inference
      ? inference.parallel.dp * inference.parallel.tp
      : undefined;
  for (const component of ["trainer", "orchestrator"] as const) {
    const own = scope.within(component, "weight_broadcast");
    for (const key of ["port", "timeout", "quantize_in_weight_transfer"] as const)
      own.derive([key], shared[key], `weight_broadcast.${key}`);
    if (receivers !== undefined) own.derive(["inference_world_size"], receivers, "deployment");
  }
  if (isMultiNode && !scope.isGiven("trainer", "weight_broadcast", "host"))
    scope.derive(["trainer", "weight_broadcast", "host"], "0.0.0.0", "deployment.type");
}

function checkQuantized(scope: Scope<RlConfig>): void {
  const { weight_broadcast, inference, trainer } = scope.value;
  const at = ["weight_broadcast", "quantize_in_weight_transfer"];
  if (weight_broadcast?.type !== "nccl")
    scope.error(at, "Only NCCL sends quantized weights.", 'Set weight_broadcast.type = "nccl".');
  if (!inference) scope.error(at, "Quantized weights need servers that know them.", "Add [inference].");
  if (trainer.model.impl !== "custom")
    scope.error(
      at,
      "Quantized weights come from the custom implementation.",
      'Set trainer.model.impl = "custom".',
    );
}
