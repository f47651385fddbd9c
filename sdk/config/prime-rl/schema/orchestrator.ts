import * as z from "zod";
import { algo } from "./algo.ts";
import { Client } from "./client.ts";
import {
  envVars,
  heartbeat,
  log,
  logExtras,
  modelFields,
  ncclFields,
  rolloutTransport,
  tokenizer,
  wandbWithExtras,
} from "./common.ts";
import { Eval, Train } from "./environment.ts";
import { bool, float, int, list, off, path, section, text, variants } from "./fields.ts";
import { renderer } from "./renderer.ts";

const Lora = z.strictObject({
  name: text("The adapter's name; made of rank and alpha unless given.", null),
  rank: int("The rank; the trainer's unless given.", null, { min: 1 }),
  alpha: float("The scale; the trainer's unless given.", null, { min: 0 }),
});
const Model = z.strictObject({
  ...modelFields,
  lora: off(Lora, "Ask for a LoRA adapter of the model."),
  client: section(Client, "How the orchestrator reaches the model's servers."),
});

const enforce = (standard: boolean) => bool("Drop what is found instead of only counting it.", standard);
const Gibberish = z.strictObject({
  type: z.literal("gibberish"),
  enforce: enforce(false),
  token_id_threshold: int("Tokens above this id are rare.", 100_000),
  logprob_offset: float("How far below chance a rare token must be.", 2),
});
const Repetition = z.strictObject({
  type: z.literal("repetition"),
  enforce: enforce(false),
  window: int("So many certain tokens in a row.", 3000, { min: 1 }),
  prob_threshold: float("From here on a token is certain.", 0.99, { above: 0, max: 1 }),
});
const ZeroAdvantage = z.strictObject({ type: z.literal("zero_advantage"), enforce: enforce(true) });
const Filter = z.discriminatedUnion("type", [Gibberish, Repetition, ZeroAdvantage]);

const gibberish = {
  type: "gibberish",
  enforce: false,
  token_id_threshold: 100_000,
  logprob_offset: 2,
} as const;
const repetition = { type: "repetition", enforce: false, window: 3000, prob_threshold: 0.99 } as const;

const PrimeMonitor = z.strictObject({
  base_url: text("The monitor's address.", "https://api.primeintellect.ai/api/v1/rft"),
  api_key_var: text("The environment variable with the key.", "PRIME_API_KEY"),
  log_extras: logExtras,
  run_name: text("The run's name there; W&B's unless given.", null),
  team_id: text("The team of the run.", null),
  frontend_url: text("The address of its pages.", null),
});
const Checkpoint = z.strictObject({
  interval: int("Steps between two checkpoints.", null, { min: 1 }),
  resume_step: int("The step to resume from; -1 is the latest, null starts anew.", null, { min: -1 }),
  wait_for_weights_timeout: int("Seconds to wait for weights when resuming; null does not wait.", null, {
    min: 1,
  }),
  keep_last: int("Keep so many of the latest checkpoints.", null, { min: 1 }),
  keep_interval: int("Keep every checkpoint whose step divides by this.", null, { min: 1 }),
  skip_progress: bool("Resume without the progress.", false),
});
const FileSystemBroadcast = z.strictObject({ type: z.literal("filesystem") });
const NcclBroadcast = z.strictObject({
  ...ncclFields,
  inference_world_size: int("How many GPUs receive weights.", 1, { min: 1 }),
});

export const Orchestrator = z.strictObject({
  algo,
  model: section(Model, "The model, and how to reach it."),
  train: section(Train, "What is trained on."),
  tokenizer,
  renderer,
  pool_size: int("How many renderers work at once.", null, { min: 1 }),
  optim: section(
    z.strictObject({ lr: float("The learning rate of this run.", 1e-4, { min: 0 }) }),
    "The optimizer of a run that shares a trainer.",
  ),
  eval: off(Eval, "What is evaluated on, now and then."),
  pre_batch_filters: list(Filter, "Which rollouts do not enter a batch; each type once.", [
    gibberish,
    repetition,
    { type: "zero_advantage", enforce: false },
  ]),
  post_batch_filters: list(Filter, "Which rollouts of a batch are not trained on; each type once.", [
    gibberish,
    repetition,
    { type: "zero_advantage", enforce: true },
  ]),
  log,
  env_vars: envVars("Environment variables of the orchestrator."),
  wandb: wandbWithExtras,
  prime_monitor: off(PrimeMonitor, "Report to the Prime Intellect platform."),
  collect_inference_metrics: bool("Record what the inference servers report.", true),
  inference_metrics_roles: list(z.enum(["prefill", "decode"]), "The role of each admin address.", null),
  ckpt: off(Checkpoint, "Save checkpoints; off unless named."),
  weight_broadcast: variants(
    "type",
    [FileSystemBroadcast, NcclBroadcast],
    "filesystem",
    "How new weights come from the trainer.",
  ),
  rollout_transport: rolloutTransport,
  output_dir: path("The orchestrator's folder.", "outputs/run_default"),
  tasks_per_minute: int("The most tasks a minute and worker.", null, { min: 1 }),
  batch_size: int("Rollouts a step. Either this or token_batch_size; 128 if neither.", null, { min: 1 }),
  token_batch_size: int("Tokens a step.", null, { min: 1 }),
  oversampling_factor: float("How many rollouts are begun for each one in the batch.", null, { above: 0 }),
  max_inflight_rollouts: int("The most rollouts at once; follows from the batch unless given.", null, {
    min: 1,
  }),
  group_size: int("Rollouts a task.", 1, { min: 1, aliases: ["rollouts_per_example"] }),
  seq_len: int("The longest sequence, in tokens.", 2048),
  num_train_workers: int("How many ways the trainer splits a batch.", 1, { min: 1 }),
  max_steps: int("The step to stop at; null does not stop.", null),
  max_off_policy_steps: int("Rollouts of a policy older than this are dropped.", 8, { min: 0 }),
  bench: bool("Measure: four steps, without evaluation.", false),
  heartbeat,
});
