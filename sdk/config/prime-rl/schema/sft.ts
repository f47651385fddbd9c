import * as z from "zod";
import {
  bench,
  distTimeout,
  envVars,
  gc,
  heartbeat,
  matmulPrecision,
  slurm,
  tokenizer,
  trainerLog,
  wandb,
} from "./common.ts";
import { bool, choice, int, list, off, path, section, text, variants } from "./fields.ts";
import { optim, scheduler } from "./optim.ts";
import { optionalRenderer } from "./renderer.ts";
import { trainerCheckpoint } from "./trainer.ts";
import { trainerModel } from "./trainer-model.ts";

const batchFields = {
  batch_size: int("Samples a step.", 128, { min: 1 }),
  seq_len: int("The longest sequence, in tokens.", 128, { min: 1 }),
  pack_function: choice(["cat", "stack"], "How samples fill a sequence.", "cat"),
  micro_batch_size: int("Samples at once; divides batch_size.", 1, { min: 1 }),
};
const FakeData = z.strictObject({
  ...batchFields,
  type: z.literal("fake"),
  length: choice(["fixed", "variable"], "All of one length, or not.", "fixed"),
  input_ids: choice(["increasing", "random"], "Which tokens.", "increasing"),
});
const LossMask = z.strictObject({
  system: bool("Learn system messages.", false),
  user: bool("Learn user messages.", false),
  assistant: bool("Learn assistant messages.", true),
  tool: bool("Learn tool results.", false),
});
const dataFields = {
  ...batchFields,
  name: text("A dataset by its hub name, or a path.", "PrimeIntellect/Reverse-Text-SFT"),
  subsets: list(z.string(), "The subsets to load.", null),
  splits: list(z.string(), "The splits to load.", null),
  probabilities: list(z.number(), "How often each subset or split comes up.", null),
  stopping_strategy: choice(
    ["first_exhausted", "all_exhausted"],
    "Stop when the first part has run out, or the last.",
    "all_exhausted",
  ),
  shuffle: bool("Shuffle each epoch.", true),
  seed: int("The seed of the shuffling; grows by one an epoch.", 0),
  loss_mask: section(LossMask, "Whose messages are learned."),
};
const Data = z.strictObject({ ...dataFields, type: z.literal("sft") });
const ValidationData = z.strictObject({ ...dataFields, type: z.literal("sft").default("sft") });
const Validation = z.strictObject({
  interval: int("Steps between two validations.", 50, { min: 1 }),
  eval_on_start: bool("Validate before the first step.", false),
  data: ValidationData.meta({ description: "The held-out data." }),
});

const gpusPerNode = int("GPUs a node.", 8);
const SingleNode = z.strictObject({
  gpus_per_node: gpusPerNode,
  type: z.literal("single_node"),
  num_gpus: int("GPUs to use.", 1),
});
const MultiNode = z.strictObject({
  gpus_per_node: gpusPerNode,
  type: z.literal("multi_node"),
  num_nodes: int("Nodes to train on.", 2),
  nodes_per_fsdp_group: int("Nodes that share one set of weights.", null),
});

export const Sft = z.strictObject({
  model: trainerModel,
  env_vars: envVars("Environment variables of the trainer."),
  tokenizer,
  renderer: optionalRenderer,
  data: variants("type", [FakeData, Data], "sft", "What is trained on."),
  val: off(Validation, "Validate on held-out data."),
  optim,
  scheduler,
  ckpt: trainerCheckpoint,
  log: trainerLog,
  wandb,
  output_dir: path("The run's folder.", "outputs"),
  clean_output_dir: bool("Empty the run's folder first.", false),
  matmul_precision: matmulPrecision,
  max_steps: int("The step to stop at; null does not stop.", null),
  memory_profiler_path: path("Write a memory profile here.", null),
  bench,
  gc,
  trace_path: path("Write a profiler trace here; needs max_steps below 10.", null),
  dist_timeout_seconds: distTimeout,
  loss_impl: choice(
    ["liger", "torch", "liger_fused", "quack_fused"],
    "Which code computes the loss.",
    "torch",
  ),
  heartbeat,
  deployment: variants("type", [SingleNode, MultiNode], "single_node", "The nodes that train."),
  slurm,
  dry_run: bool("Resolve, write the resolved files, and stop.", false),
});
