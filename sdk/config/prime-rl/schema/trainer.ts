import * as z from "zod";
import {
  bench,
  distTimeout,
  envVars,
  gc,
  heartbeat,
  matmulPrecision,
  ncclFields,
  rolloutTransport,
  tokenizer,
  trainerLog,
  wandb,
  weightFormat,
} from "./common.ts";
import { bool, float, freeDict, int, off, on, path, section, text, variants } from "./fields.ts";
import { optim, scheduler } from "./optim.ts";
import { trainerModel } from "./trainer-model.ts";

const advTau = float("The weight of the advantage.", 1, { min: 0 });
const klTau = float("The weight of the KL term.", 1e-3, { min: 0 });
const DefaultLoss = z.strictObject({
  type: z.literal("default"),
  dppo_mask_low: float("Tokens whose probability fell by more are masked.", 0.2, { min: 0 }),
  dppo_mask_high: float("Tokens whose probability rose by more are masked.", 0.2, { min: 0 }),
  adv_tau: advTau,
  kl_tau: klTau,
});
const IpoLoss = z.strictObject({
  type: z.literal("ipo"),
  ipo_threshold: float("Tokens whose probability moved by more are masked.", 0.1, { min: 0 }),
  adv_tau: advTau,
  kl_tau: klTau,
});
const CustomLoss = z.strictObject({
  type: z.literal("custom"),
  import_path: text("The loss function: my_module.my_loss."),
  kwargs: freeDict("Arguments of the loss function."),
});

const FakeData = z.strictObject({
  batch_size: int("Samples a batch.", 2, { min: 1 }),
  generate_samples: bool("Make separate samples and pack them.", false),
});

const WeightCheckpoint = z.strictObject({
  save_sharded: bool("Several files instead of one.", true),
  save_format: weightFormat,
  save_adapter_separately: bool("Keep the LoRA adapter as a file of its own.", false),
});
const Checkpoint = z.strictObject({
  output_dir: path("Write checkpoints here instead of under the run's folder.", null),
  interval: int("Steps between two checkpoints; null saves one, at the end.", null, { min: 1 }),
  weights: on(WeightCheckpoint, "Weights that other programs can load."),
  skip_gather_master_weights: bool("Leave out the weights that other programs can load.", false),
  weights_only: bool("Only weights: small, but no run can resume from them.", false),
  resume_step: int("The step to resume from; -1 is the latest, null starts anew.", null, { min: -1 }),
  keep_last: int("Keep so many of the latest checkpoints.", null, { min: 1 }),
  keep_interval: int("Keep every checkpoint whose step divides by this.", null, { min: 1 }),
  skip_progress: bool("Resume without the progress.", false),
  skip_scheduler: bool("Resume without the scheduler.", false),
  skip_dataloader: bool("Resume without the place in the data.", false),
  skip_optimizer: bool("Resume without the optimizer's state.", false),
});
export const trainerCheckpoint = off(Checkpoint, "Save checkpoints; off unless named.");

const FileSystemBroadcast = z.strictObject({
  type: z.literal("filesystem"),
  save_sharded: bool("Several files instead of one.", true),
  save_format: weightFormat,
});
const NcclBroadcast = z.strictObject({
  ...ncclFields,
  inference_world_size: int("How many GPUs receive weights.", 1),
});

const MetricsServer = z.strictObject({
  port: int("The port to listen on.", 8000, { min: 1, max: 65535 }),
  host: text("The address to listen on.", "0.0.0.0"),
});

export const Trainer = z.strictObject({
  model: trainerModel,
  tokenizer,
  data: section(
    z.strictObject({ fake: off(FakeData, "Train on made-up batches.") }),
    "Where batches come from, if not from the orchestrator.",
  ),
  loss: variants("type", [DefaultLoss, IpoLoss, CustomLoss], "default", "The policy loss."),
  optim,
  scheduler,
  ckpt: trainerCheckpoint,
  weight_broadcast: variants(
    "type",
    [FileSystemBroadcast, NcclBroadcast],
    "filesystem",
    "How new weights reach the inference servers.",
  ),
  rollout_transport: rolloutTransport,
  log: trainerLog,
  wandb,
  output_dir: path("The run's folder.", "outputs"),
  matmul_precision: matmulPrecision,
  max_steps: int("The step to stop at; null does not stop.", null),
  enable_router_replay: bool("Train experts along the routes that sampling took.", false),
  memory_profiler_path: path("Write a memory profile here.", null),
  bench,
  gc,
  trace_path: path("Write a profiler trace here; needs max_steps below 10.", null),
  dist_timeout_seconds: distTimeout,
  heartbeat,
  metrics_server: off(MetricsServer, "Metrics for Prometheus over HTTP."),
  max_concurrent_runs: int("How many LoRA runs share this trainer.", 1, { min: 1 }),
  enable_token_export: bool("Write each trained token with its numbers to token_exports/step_N.", false),
  env_vars: envVars("Environment variables of the trainer."),
});
