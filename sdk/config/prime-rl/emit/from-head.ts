/**
 * Files for the newer pinned version (main at 559b44772) in the names of ours: what `config migrate` reads.
 *
 * @module
 */
import type { EntrypointName } from "../entrypoints.ts";
import type { Report } from "../types.ts";
import { isTable } from "../walk.ts";
import { inferenceFromHead, trainerFromHead, trainingFromHead } from "./from-head-model.ts";
import { orchestratorFromHead } from "./from-head-orchestrator.ts";
import { resumeFromHead } from "./resume.ts";
import { Conversion, type Table } from "./tree.ts";

/**
 * A tree as a file of the newer version has it, in our names, and what has no place here.
 *
 * @example
 * fromHead("rl", { monitors: { wandb: { name: "x" } } }).tree; // { wandb: { name: "x" } }
 */
export function fromHead(name: EntrypointName, tree: Table): { tree: Table; dropped: Report[] } {
  const it = new Conversion(tree);
  if (name === "rl") rlFromHead(it);
  else if (name === "sft") sftFromHead(it);
  else if (name === "trainer") trainerFromHead(it, "");
  else if (name === "orchestrator") orchestratorFromHead(it, "");
  else inferenceFromHead(it, "");
  it.keepRest();
  return { tree: it.to, dropped: it.dropped };
}

function rlFromHead(it: Conversion): void {
  for (const [part, convert] of [
    ["trainer", trainerFromHead],
    ["orchestrator", orchestratorFromHead],
    ["inference", inferenceFromHead],
  ] as const)
    if (isTable(it.from[part])) convert(it, `${part}.`);
  runFromHead(it);
  it.move("monitors.wandb", "wandb");
  const prime = it.take("monitors.prime");
  if (isTable(prime)) it.put("orchestrator.prime_monitor", { run_name: prime["name"] ?? null });
  it.take("monitors");
  resumeFromHead(it, "");
  const transport = it.take("rollout_transport");
  if (isTable(transport))
    for (const part of ["trainer", "orchestrator"]) it.put(`${part}.rollout_transport`, transport);
  broadcastFromHead(it);
}

/** Left out it means NCCL there, or files where adapters or nobody's servers cannot take that; files are ours. */
function broadcastFromHead(it: Conversion): void {
  it.take("weight_broadcast.host");
  const type = it.peek("weight_broadcast.type");
  const isNccl = isTable(it.peek("inference") ?? it.to["inference"]) && it.peek("trainer.model.lora") == null;
  if (type === undefined && isNccl) it.put("weight_broadcast", { type: "nccl" });
  if (type === "nixl" || type === "filesystem") it.take("weight_broadcast");
  if (type === "nixl") it.lose("weight_broadcast", "this version has no nixl.");
}

/** The folder that holds the runs, and the run's in it, are one setting. */
function runFromHead(it: Conversion): void {
  it.move("clean", "clean_output_dir");
  const run = it.takeTable("run") ?? {};
  const folder = run["dir"] ?? run["name"];
  const around = it.take("output_dir");
  const parent = typeof around === "string" ? around : "outputs";
  if (typeof folder === "string") it.put("output_dir", parent === "." ? folder : `${parent}/${folder}`);
  else it.put("output_dir", around);
}

function sftFromHead(it: Conversion): void {
  trainingFromHead(it, "");
  runFromHead(it);
  it.move("deployment.num_train_gpus", "deployment.num_gpus");
  it.move("deployment.num_train_nodes", "deployment.num_nodes");
  for (const key of ["num_infer_gpus", "num_eval_gpus", "num_infer_nodes", "num_eval_nodes"])
    it.take(`deployment.${key}`);
  for (const key of ["eval", "inference", "weight_broadcast"])
    it.drop(key, "sft of this version does not sample while it trains.");
  it.take("data.num_workers");
  it.take("val.data.num_workers");
}
