import type { RlConfig } from "./configs.ts";
import { isPolicySourced } from "./environments.ts";
import type { Scope } from "./scope.ts";

type Deployment = RlConfig["deployment"];
type MultiNode = Extract<Deployment, { type: "multi_node" }>;
type SingleNode = Extract<Deployment, { type: "single_node" }>;

/** Spreads trainer and servers over the GPUs that there are. */
export function finishDeployment(scope: Scope<RlConfig>): void {
  const { deployment, slurm, inference } = scope.value;
  if (deployment.type === "single_node") finishSingleNode(scope, deployment);
  else finishMultiNode(scope, deployment);
  if (!slurm && inference?.kv_cache_offload?.type === "mooncake")
    scope.error(
      ["inference", "kv_cache_offload", "type"],
      "The store of mooncake is started by the SLURM job.",
      'Use type = "native", or add [slurm].',
    );
  finishClient(scope);
}

function finishSingleNode(scope: Scope<RlConfig>, deployment: SingleNode): void {
  const { num_train_gpus: train, num_infer_gpus: infer, gpus_per_node: all } = deployment;
  if (train + infer > all)
    scope.error(
      ["deployment", train > infer ? "num_train_gpus" : "num_infer_gpus"],
      `${train} GPUs to train and ${infer} to serve are more than the ${all} of the node.`,
      'Use fewer, or deployment.type = "multi_node".',
    );
  if (scope.value.trainer.weight_broadcast.type === "nccl" && train + infer < 2)
    scope.error(["deployment"], "NCCL needs two GPUs at least.", 'Use weight_broadcast.type = "filesystem".');
  if (train > 1)
    scope.derive(
      ["orchestrator", "num_train_workers"],
      Math.trunc(train / scope.value.trainer.model.cp),
      "deployment.num_train_gpus",
    );
  if (scope.value.inference) fillNode(scope, infer);
}

/** As many engines as the GPUs hold, and a front end for each unless adapters forbid it. */
function fillNode(scope: Scope<RlConfig>, gpus: number): void {
  const server = scope.within<NonNullable<RlConfig["inference"]>>("inference");
  const { tp, dp } = server.value.parallel;
  if (gpus % tp !== 0) {
    scope.error(
      ["inference", "parallel", "tp"],
      `${gpus} GPUs do not divide into engines of ${tp}.`,
      `Set deployment.num_infer_gpus to a multiple of ${tp}.`,
    );
    return;
  }
  const engines = gpus / tp;
  if (engines !== dp && server.isGiven("parallel", "dp"))
    server.warn(
      ["parallel", "dp"],
      `${gpus} GPUs make ${engines} engines of ${tp}, not ${dp}.`,
      `Set deployment.num_infer_gpus = ${dp * tp}, or remove dp.`,
    );
  server.derive(["parallel", "dp"], engines, "deployment.num_infer_gpus");
  if (server.value.api_server_count < engines && !server.value.enable_lora)
    server.derive(["api_server_count"], engines, "deployment.num_infer_gpus");
}

function finishMultiNode(scope: Scope<RlConfig>, deployment: MultiNode): void {
  checkMultiNode(scope, deployment);
  scope.derive(
    ["orchestrator", "num_train_workers"],
    deployment.num_train_nodes * deployment.gpus_per_node,
    "deployment.num_train_nodes",
  );
  const group = deployment.nodes_per_fsdp_group;
  if (group !== null && deployment.num_train_nodes % group !== 0)
    scope.error(
      ["deployment", "nodes_per_fsdp_group"],
      `${deployment.num_train_nodes} nodes do not divide into groups of ${group}.`,
      "Choose a divisor of num_train_nodes.",
    );
  else if (group !== null)
    scope.derive(
      ["trainer", "model", "dp_replicate"],
      deployment.num_train_nodes / group,
      "deployment.nodes_per_fsdp_group",
    );
  if (!scope.value.inference) return;
  const server = scope.within<NonNullable<RlConfig["inference"]>>("inference");
  if (server.value.deployment.type === "disaggregated") finishDisaggregated(scope, deployment);
  else if (server.value.enable_expert_parallel) finishExperts(server, deployment);
  else finishNodes(server, deployment);
}

function checkMultiNode(scope: Scope<RlConfig>, { num_infer_nodes: nodes }: MultiNode): void {
  const { slurm, inference, trainer, bench } = scope.value;
  if (!slurm) scope.error(["deployment", "type"], "Several nodes are started through SLURM.", "Add [slurm].");
  if (nodes > 0 && !inference)
    scope.error(
      ["inference"],
      `${nodes} nodes are to serve, and there is nothing to serve.`,
      "Add [inference].",
    );
  if (nodes === 0 && inference)
    scope.error(
      ["deployment", "num_infer_nodes"],
      "There is [inference], but no node for it.",
      "Set num_infer_nodes, or remove [inference].",
    );
  if (nodes === 0 && !trainer.data.fake && !bench)
    scope.error(
      ["deployment", "num_infer_nodes"],
      "Nobody samples without nodes that serve.",
      "Train on made-up data: add [trainer.data.fake], or bench = true.",
    );
}

type Server = Scope<NonNullable<RlConfig["inference"]>>;

/** An independent server on each node. */
function finishNodes(server: Server, deployment: MultiNode): void {
  const perNode = Math.trunc(deployment.gpus_per_node / server.value.parallel.tp);
  if (perNode <= 1) return;
  const from = "deployment.gpus_per_node";
  if (server.value.parallel.dp === 1) server.derive(["parallel", "dp"], perNode, from);
  if (server.value.data_parallel_size_local === null)
    server.derive(["data_parallel_size_local"], perNode, from);
  if (server.value.api_server_count === 1) server.derive(["api_server_count"], perNode, from);
}

/** One server over all nodes, its experts spread over every GPU. */
function finishExperts(server: Server, deployment: MultiNode): void {
  const { gpus_per_node: gpus, num_infer_nodes: nodes } = deployment;
  const { tp, dp } = server.value.parallel;
  if (gpus % tp !== 0) {
    server.error(
      ["parallel", "tp"],
      `${gpus} GPUs a node do not divide into engines of ${tp}.`,
      `Choose a divisor of ${gpus}.`,
    );
    return;
  }
  if (dp * tp !== nodes * gpus)
    server.error(
      ["parallel", "dp"],
      `Experts spread over all ${nodes * gpus} GPUs, and dp × tp is ${dp * tp}.`,
      `Set dp = ${(nodes * gpus) / tp}.`,
    );
  const local = server.value.data_parallel_size_local;
  if (local !== null && local !== gpus / tp)
    server.error(
      ["data_parallel_size_local"],
      `A node holds ${gpus / tp} engines, not ${local}.`,
      "Remove data_parallel_size_local.",
    );
  else server.derive(["data_parallel_size_local"], gpus / tp, "deployment.gpus_per_node");
  if (!server.value.enable_lora && server.value.api_server_count === dp)
    server.derive(["api_server_count"], gpus / tp, "deployment.gpus_per_node");
}

/** Some nodes read prompts, the others write answers. */
function finishDisaggregated(scope: Scope<RlConfig>, deployment: MultiNode): void {
  const { inference, orchestrator } = scope.value;
  if (inference?.deployment.type !== "disaggregated") return;
  const { num_prefill_nodes: prefill, num_decode_nodes: decode } = inference.deployment;
  if (deployment.num_infer_nodes !== prefill + decode)
    scope.error(
      ["deployment", "num_infer_nodes"],
      `${prefill} nodes for prefill and ${decode} for decode are ${prefill + decode}, not ${deployment.num_infer_nodes}.`,
      `Set num_infer_nodes = ${prefill + decode}.`,
    );
  if (
    orchestrator.inference_metrics_roles !== null ||
    scope.isGiven("orchestrator", "inference_metrics_roles")
  )
    return;
  const engines = Math.trunc(deployment.gpus_per_node / inference.parallel.tp);
  const replica = [
    ...Array<string>(prefill * engines).fill("prefill"),
    ...Array<string>(decode * engines).fill("decode"),
  ];
  const roles = Array.from({ length: deployment.num_infer_replicas }, () => replica).flat();
  scope.derive(["orchestrator", "inference_metrics_roles"], roles, "inference.deployment");
}

/** One node shows its engines behind one address; several nodes show a router. */
function finishClient(scope: Scope<RlConfig>): void {
  const { inference, deployment, orchestrator } = scope.value;
  if (!inference) return;
  const client = scope.within<RlConfig["orchestrator"]["model"]["client"]>("orchestrator", "model", "client");
  if (!client.isGiven("dp_rank_count")) {
    const engines = inference.data_parallel_size_local ?? inference.parallel.dp;
    client.derive(["dp_rank_count"], deployment.type === "multi_node" ? 1 : engines, "inference.parallel.dp");
  }
  if (!orchestrator.train.env.some(isPolicySourced) && !client.isGiven("base_url")) {
    const { host, port } = inference.server;
    client.derive(["base_url"], [`http://${host ?? "localhost"}:${port}/v1`], "inference.server");
  }
}
