import * as z from "zod";
import { envVars, sharedTokenizer, slurm, vlm } from "./common.ts";
import { bool, choice, int, list, off, path, section, text, variants } from "./fields.ts";
import { Inference } from "./inference.ts";
import { Orchestrator } from "./orchestrator.ts";
import { Trainer } from "./trainer.ts";

const Log = z.strictObject({
  level: text("What every component logs at least; null leaves it to each.", null),
  json_logging: bool("Every component logs one JSON object a line.", false),
});
const Checkpoint = z.strictObject({
  output_dir: path("Write checkpoints here instead of under the run's folder.", null),
  interval: int("Steps between two checkpoints.", null),
  resume_step: int("The step to resume from; -1 is the latest, null starts anew.", null),
  keep_last: int("Keep so many of the latest checkpoints.", null, { min: 1 }),
  keep_interval: int("Keep every checkpoint whose step divides by this.", null, { min: 1 }),
});
const Wandb = z.strictObject({
  project: text("The W&B project.", "prime-rl", { nullable: true }),
  entity: text("The W&B team or user.", null),
  name: text("The name of the run.", null),
  group: text("The group of the run.", null),
  tags: list(z.string(), "Tags of the run.", null),
  offline: bool("Not here: the components of a run share one W&B run, which needs the server.", false, {
    nullable: true,
  }),
});
const Model = z.strictObject({
  name: text("A model by its hub name, or a folder.", "Qwen/Qwen3-0.6B"),
  vlm,
});
const WeightBroadcast = z.strictObject({
  type: choice(["nccl", "filesystem"], "How new weights reach the inference servers.", "filesystem"),
  port: int("The port of the NCCL rendezvous.", 29501),
  timeout: int("Seconds until a broadcast is given up.", 1200),
  quantize_in_weight_transfer: bool("Send weights as FP8 in the kernels' own layout.", false),
});

const gpusPerNode = int("GPUs a node.", 8);
const SingleNode = z.strictObject({
  gpus_per_node: gpusPerNode,
  type: z.literal("single_node"),
  num_train_gpus: int("GPUs of the trainer.", 1),
  num_infer_gpus: int("GPUs of inference.", 1),
});
const MultiNode = z.strictObject({
  gpus_per_node: gpusPerNode,
  type: z.literal("multi_node"),
  num_train_nodes: int("Nodes that train."),
  num_infer_nodes: int("Nodes that serve, a replica; 0 only measures training.", undefined, { min: 0 }),
  num_infer_replicas: int("Replicas of the serving nodes.", 1, { min: 1 }),
  nodes_per_fsdp_group: int("Training nodes that share one set of weights.", null),
  orchestrator_on_inference: bool("Run the orchestrator on the last serving node.", false),
});

export const Rl = z.strictObject({
  trainer: Trainer.meta({ description: "The process that trains." }),
  orchestrator: Orchestrator.meta({ description: "The process that samples and judges." }),
  inference: off(Inference, "The servers that write rollouts; without it somebody else runs them."),
  env_vars: envVars("Environment variables of every process."),
  output_dir: path("The run's folder.", "outputs"),
  clean_output_dir: bool("Empty the run's folder first.", false),
  log: section(Log, "What every component logs."),
  ckpt: off(Checkpoint, "Checkpoints of trainer and orchestrator."),
  wandb: off(Wandb, "Weights & Biases for trainer and orchestrator."),
  model: off(Model, "The model of every component."),
  tokenizer: sharedTokenizer,
  max_steps: int("The step to stop at; null does not stop.", null),
  seq_len: int("The longest sequence, in tokens.", null),
  weight_broadcast: off(WeightBroadcast, "How new weights reach the inference servers."),
  bench: bool("Measure: four steps on made-up data.", false),
  deployment: variants("type", [SingleNode, MultiNode], "single_node", "The nodes of the run."),
  slurm,
  dry_run: bool("Resolve, write the resolved files, and stop.", false),
});
