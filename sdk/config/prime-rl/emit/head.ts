/**
 * The newer pinned version (main at 559b44772): other names, other places, JSON with its nulls.
 *
 * @module
 */
import type { EntrypointName } from "../entrypoints.ts";
import { rendererOf } from "../rules/renderers.ts";
import { parentOf } from "../rules/shared-fields.ts";
import type { Report } from "../types.ts";
import { isTable } from "../walk.ts";
import type { EmittedFile } from "./dry-run.ts";
import {
  checkpointToHead,
  envVarsToHead,
  inferenceToHead,
  trainerToHead,
  trainingToHead,
} from "./head-model.ts";
import { orchestratorToHead } from "./head-orchestrator.ts";
import { Conversion, type Table } from "./tree.ts";

const GONE = "the newer version has no such setting.";

/**
 * A resolved tree as the newer version takes it, and what that version cannot be told.
 *
 * @example
 * const { tree, dropped } = toHead("rl", config);
 * tree.orchestrator.train.source[0].env.taskset.id; // "reverse-text"
 */
export function toHead(name: EntrypointName, config: Table): { tree: Table; dropped: Report[] } {
  const it = new Conversion(config);
  if (name === "rl") rlToHead(it);
  else if (name === "sft") sftToHead(it);
  else if (name === "trainer") trainerToHead(it, "");
  else if (name === "orchestrator") orchestratorToHead(it, "");
  else inferenceToHead(it, "");
  envVarsToHead(it, "");
  it.keepRest();
  return { tree: it.to, dropped: it.dropped };
}

/** One file: the newer launcher writes those of its processes itself. */
export function headFiles(name: EntrypointName, config: Table): { files: EmittedFile[]; reports: Report[] } {
  const { dry_run: _, ...tree } = toHead(name, config).tree;
  const text = `${JSON.stringify(tree, undefined, 2)}\n`;
  return { files: [{ name: `${name}.json`, text }], reports: toHead(name, config).dropped };
}

function rlToHead(it: Conversion): void {
  trainerToHead(it, "trainer.");
  orchestratorToHead(it, "orchestrator.");
  if (isTable(it.from["inference"])) inferenceToHead(it, "inference.");
  for (const part of ["trainer.", "orchestrator.", "inference."]) envVarsToHead(it, part);
  // The launcher gives both sides the run's folder, and the shared step to resume from.
  it.take("trainer.output_dir");
  it.take("orchestrator.output_dir");
  const resume = [it.to["trainer"], it.to["orchestrator"]].map((side) =>
    isTable(side) ? side["resume"] : null,
  );
  if (isTable(it.from["ckpt"])) checkpointToHead(it, "");
  it.put("resume", resume[0] ?? null);
  runToHead(it);
  it.drop("bench", GONE, false);
  it.move("wandb", "monitors.wandb");
  broadcastToHead(it);
  dropContradicted(it);
}

/** The run's folder is a folder in one that holds many runs. */
function runToHead(it: Conversion): void {
  const folder = it.take("output_dir");
  it.move("clean_output_dir", "clean");
  if (typeof folder !== "string") return;
  const name = folder.replace(/\/+$/, "").split("/").at(-1);
  it.put("output_dir", parentOf(folder));
  it.put("run", { name, dir: name });
}

/** Said out loud: left out, it would be NCCL there. */
function broadcastToHead(it: Conversion): void {
  const shared = it.takeTable("weight_broadcast");
  it.take("weight_broadcast");
  const trainer = isTable(it.from["trainer"]) ? it.from["trainer"]["weight_broadcast"] : undefined;
  const sent = isTable(trainer) ? trainer : {};
  const { type, host, port, timeout, quantize_in_weight_transfer } = { ...sent, ...shared };
  it.put(
    "weight_broadcast",
    type === "nccl"
      ? { type, host: host ?? "localhost", port, timeout, quantize_in_weight_transfer }
      : { type: "filesystem" },
  );
}

/** A shared default beside another value of a component is a contradiction there. */
function dropContradicted(it: Conversion): void {
  if (it.take("log.json_logging") === true) it.put("log.json_logging", true);
  const wandb = isTable(it.to["monitors"]) ? it.to["monitors"]["wandb"] : undefined;
  if (isTable(wandb) && wandb["offline"] === false) delete wandb["offline"];
}

function sftToHead(it: Conversion): void {
  trainingToHead(it, "");
  runToHead(it);
  it.drop("loss_impl", GONE, "torch");
  for (const data of ["data", "val.data"])
    it.drop(`${data}.pack_function`, "the newer version packs one way.", "cat");
  it.move("deployment.num_gpus", "deployment.num_train_gpus");
  it.move("deployment.num_nodes", "deployment.num_train_nodes");
  if (it.from["renderer"] !== null) return;
  it.take("renderer");
  const model = it.peek("tokenizer.name") ?? it.peek("model.name");
  if (typeof model === "string" && !rendererOf(model))
    it.lose("renderer", `the newer version always renders, and needs to be told how for ${model}.`);
}
