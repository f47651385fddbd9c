import type { SftConfig } from "./configs.ts";
import type { Scope } from "./scope.ts";
import { BENCH_STEPS, finishTraining } from "./trainer.ts";
import { checkModel } from "./trainer-model.ts";

type Data = SftConfig["data"] | NonNullable<SftConfig["val"]>["data"];

/** What completes and checks `sft`. */
export function finishSft(scope: Scope<SftConfig>): void {
  checkModel(scope.within("model"));
  scope.derive(["model", "fused_lm_head_token_chunk_size"], "disabled", "sft");
  if (scope.value.bench) {
    scope.derive(["max_steps"], BENCH_STEPS, "bench");
    scope.derive(["ckpt"], null, "bench");
  }
  finishTraining(scope);
  checkData(scope.within("data"), scope.value.model.cp);
  if (scope.value.val) checkData(scope.within("val", "data"), scope.value.model.cp);
  if (scope.value.renderer && scope.value.model.vlm)
    scope.error(["renderer"], "A renderer reads text only, and the model sees images.", "Remove [renderer].");
  finishDeployment(scope);
}

function checkData(scope: Scope<Data>, cp: number): void {
  const { batch_size, micro_batch_size, pack_function, seq_len } = scope.value;
  if (batch_size % micro_batch_size !== 0)
    scope.error(
      ["micro_batch_size"],
      `${batch_size} samples do not divide into micro-batches of ${micro_batch_size}.`,
      "Choose a divisor of batch_size.",
    );
  if (pack_function === "stack" && seq_len % 256 !== 0)
    scope.error(
      ["seq_len"],
      `Stacking needs sequences that are multiples of 256, not ${seq_len}.`,
      `Take ${Math.ceil(seq_len / 256) * 256}, or pack_function = "cat".`,
    );
  if (cp > 1) checkSplitSequences(scope, cp);
  if ("subsets" in scope.value) checkParts(scope as Scope<Extract<Data, { type: "sft" }>>);
}

function checkSplitSequences(scope: Scope<Data>, cp: number): void {
  const { pack_function, seq_len, micro_batch_size } = scope.value;
  const why = `Sequences are split ${cp} ways (model.cp)`;
  if (pack_function !== "cat") scope.error(["pack_function"], `${why}, which needs "cat".`, 'Use "cat".');
  if (seq_len % cp !== 0)
    scope.error(["seq_len"], `${why}, and ${seq_len} does not divide by ${cp}.`, `Take a multiple of ${cp}.`);
  if (micro_batch_size !== 1)
    scope.error(["micro_batch_size"], `${why}, one at a time.`, "Set micro_batch_size = 1.");
}

/** Subsets, splits and probabilities belong together, one by one. */
function checkParts(scope: Scope<Extract<Data, { type: "sft" }>>): void {
  const { subsets, splits, probabilities } = scope.value;
  const parts = subsets ?? splits;
  if (!parts) return;
  if (subsets && splits && splits.length !== subsets.length)
    scope.error(
      ["splits"],
      `${subsets.length} subsets need as many splits, not ${splits.length}.`,
      "Name the split of each subset.",
    );
  if (probabilities && probabilities.length !== parts.length)
    scope.error(
      ["probabilities"],
      `${parts.length} parts need as many probabilities, not ${probabilities.length}.`,
      "Give each part one.",
    );
}

function finishDeployment(scope: Scope<SftConfig>): void {
  const { deployment, slurm } = scope.value;
  if (deployment.type === "single_node") {
    if (deployment.num_gpus > deployment.gpus_per_node)
      scope.error(
        ["deployment", "num_gpus"],
        `A node has ${deployment.gpus_per_node} GPUs, not ${deployment.num_gpus}.`,
        "Use fewer, or several nodes.",
      );
    return;
  }
  if (!slurm) scope.error(["deployment", "type"], "Several nodes are started through SLURM.", "Add [slurm].");
  const { num_nodes, nodes_per_fsdp_group: group } = deployment;
  if (group === null) return;
  if (num_nodes % group !== 0)
    scope.error(
      ["deployment", "nodes_per_fsdp_group"],
      `${num_nodes} nodes do not divide into groups of ${group}.`,
      "Choose a divisor of num_nodes.",
    );
  else scope.derive(["model", "dp_replicate"], num_nodes / group, "deployment.nodes_per_fsdp_group");
}
