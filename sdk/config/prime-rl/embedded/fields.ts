/**
 * What each setting means on the embedded engine, which is one process without a GPU. A pattern is a path whose `*`
 * stands for one step and whose `**` for all that is below; the first that fits decides.
 *
 * @module
 */
export type FieldClass = "honoured" | "irrelevant" | "refused";

export interface FieldRule {
  pattern: string;
  class: FieldClass;
  /** What becomes of it, why it changes nothing, or what to do instead. */
  note: string;
}

const rule =
  (kind: FieldClass) =>
  (note: string, ...patterns: string[]): FieldRule[] =>
    patterns.map((pattern) => ({ pattern, class: kind, note }));
const honoured = rule("honoured");
const irrelevant = rule("irrelevant");
const refused = rule("refused");

const below = (parts: readonly string[], names: readonly string[]): string[] =>
  parts.flatMap((part) => names.map((name) => (part === "" ? name : `${part}.${name}`)));

const METADATA = ["project", "entity", "name", "group", "tags"];
const ONE_PROCESS = "one process does all of it here";
const NO_GPU = "there is no GPU to spread over or to save";

/** Blocks that `rl`, its components and `sft` have alike, at each place where they stand. */
function blocks(...parts: string[]): FieldRule[] {
  return [
    ...honoured("variables of the run's process", ...below(parts, ["env_vars"])),
    ...honoured(
      "kept with the run, and shown; W&B is told only with `--wandb-secret NAME`",
      ...below(
        parts,
        METADATA.map((name) => `wandb.${name}`),
      ),
    ),
    ...honoured("nothing is sent to W&B, whatever key is granted", ...below(parts, ["wandb.offline"])),
    ...irrelevant(
      "W&B gets metrics and settings only, and with `--wandb-secret NAME`",
      ...below(parts, ["wandb.**"]),
    ),
    ...irrelevant(
      "Spotter keeps the run's log, and shows it with `spotter run logs`",
      ...below(parts, ["log.**"]),
    ),
    ...honoured("a checkpoint every so many steps", ...below(parts, ["ckpt.interval"])),
    ...honoured("what `spotter cleanup` leaves", ...below(parts, ["ckpt.keep_last", "ckpt.keep_interval"])),
    ...refused("resume a run of Spotter's with `spotter run resume`", ...below(parts, ["ckpt.resume_step"])),
    ...irrelevant("Spotter keeps checkpoints itself, whole and ready to serve", ...below(parts, ["ckpt.**"])),
    ...irrelevant("Spotter watches its runs itself", ...below(parts, ["heartbeat.**"])),
    ...irrelevant("the gym schedules instead of SLURM", ...below(parts, ["slurm.**"])),
    ...honoured("a dry run", ...below(parts, ["dry_run"])),
    ...honoured("rollouts and exports lie below it", ...below(parts, ["output_dir"])),
    ...irrelevant("each run has a folder of its own", ...below(parts, ["clean_output_dir"])),
    ...refused(
      "the tokenizer is the model's own",
      ...below(parts, ["tokenizer.name", "tokenizer.chat_template"]),
    ),
    ...irrelevant(
      "code from repositories never runs here",
      ...below(parts, ["tokenizer.trust_remote_code", "model.trust_remote_code"]),
    ),
    ...refused("the embedded engine reads text only", ...below(parts, ["model.vlm.**"])),
    ...honoured("the model", ...below(parts, ["model.name"])),
    ...refused("measure with `npm run bench`", ...below(parts, ["bench", "bench.**"])),
  ];
}

/** What a trainer and `sft` have alike. */
function training(at: string): FieldRule[] {
  const here = (...names: string[]) => below([at], names);
  return [
    ...honoured("the longest sequence; at most the model's", ...here("model.seq_len")),
    ...honoured("the adapter", ...here("model.lora.rank", "model.lora.alpha", "model.lora.target_modules")),
    ...refused("adapters train without it", ...here("model.lora.dropout", "model.lora.modules_to_save")),
    ...refused("only whole models train here", ...here("model.debug.num_layers", "model.debug.random_init")),
    ...irrelevant(NO_GPU, ...here("model.**")),
    ...honoured("the optimizer", ...here("optim.**")),
    ...honoured("how the learning rate moves", ...here("scheduler.**")),
    ...honoured("where to stop", ...here("max_steps")),
    ...irrelevant(
      NO_GPU,
      ...here("matmul_precision", "memory_profiler_path", "gc.**", "trace_path", "dist_timeout_seconds"),
    ),
  ];
}

/** An environment of either list; `sampling` also of the list as a whole. */
function environments(at: string): FieldRule[] {
  const here = (...names: string[]) => below([`${at}.env`], names);
  const both = (...names: string[]) => below([`${at}.env`, at], names);
  return [
    ...honoured("a bundled environment, or a module by its path", ...here("id", "args", "name", "ratio")),
    ...honoured("a bundled environment by its id; the other fields are its args", ...here("taskset.**")),
    ...honoured("default and null; other harnesses need a machine of their own", ...here("harness.id")),
    ...honoured("the turns of a rollout, and the room for them", ...here("max_turns", "max_total_tokens")),
    ...honoured("how long the rollouts of a step may take", ...here("timeout.rollout")),
    ...refused(
      "limit timeout.rollout, max_turns, max_total_tokens or max_completion_tokens",
      ...here("timeout.**", "max_input_tokens", "max_output_tokens"),
    ),
    ...refused("a failed rollout is counted, not repeated", ...here("retries.**")),
    ...irrelevant(ONE_PROCESS, ...here("multiplex", "pool.**")),
    ...refused("environments run beside the engine", ...here("address")),
    ...refused("pass it in args", ...here("extra_env_kwargs")),
    ...honoured(
      "how to sample",
      ...both("sampling.temperature", "sampling.max_completion_tokens", "sampling.top_p", "sampling.top_k"),
    ),
    ...refused("the embedded engine has no such setting", ...both("sampling.**")),
    ...honoured("rollouts a task", ...both("group_size")),
    ...refused("one algorithm for all environments", ...here("algo.**")),
    ...honoured(
      "how much to evaluate, and when",
      ...both("num_examples", "interval"),
      `${at}.skip_first_step`,
    ),
  ];
}

export const RL_FIELDS: readonly FieldRule[] = [
  ...blocks("", "trainer", "orchestrator", "inference"),
  ...training("trainer"),
  ...honoured("the shared values of every component", "max_steps", "seq_len"),
  ...irrelevant(
    ONE_PROCESS,
    "weight_broadcast.**",
    "deployment.**",
    "*.weight_broadcast.**",
    "*.rollout_transport.**",
  ),
  ...refused("rollouts come from the environments", "trainer.data.fake.**"),
  ...refused(
    "code of your own cannot be the loss here; use default or ipo",
    "trainer.loss.import_path",
    "trainer.loss.kwargs",
  ),
  ...honoured("default and ipo, with their settings", "trainer.loss.**"),
  ...honoured("writes token_exports/step_N/rank_0.jsonl", "trainer.enable_token_export"),
  ...irrelevant("the models here have no experts", "trainer.enable_router_replay"),
  ...irrelevant("`spotter status` and the run's page show them", "trainer.metrics_server.**"),
  ...refused("start several runs", "trainer.max_concurrent_runs"),
  ...honoured(
    "grpo and max_rl, and what length costs",
    "orchestrator.algo.type",
    "orchestrator.algo.length_penalty.**",
  ),
  ...honoured(
    "who grades the policy's tokens; the variable of its key names a stored secret",
    ...below(["orchestrator.algo.teacher"], ["name", "base_url", "api_key_var"]),
  ),
  ...irrelevant(
    "the teacher is waited for as long as it takes, and never changed",
    ...below(
      ["orchestrator.algo.teacher"],
      ["wait_for_ready_timeout", "skip_model_check", "dp_rank_count", "admin_base_url"],
    ),
  ),
  ...refused("grpo, max_rl and opd have no such setting", "orchestrator.algo.**"),
  ...honoured("the adapter", "orchestrator.model.lora.**"),
  ...irrelevant(ONE_PROCESS, "orchestrator.model.client.**"),
  ...environments("orchestrator.train"),
  ...environments("orchestrator.eval"),
  ...irrelevant("the model's chat template renders", "orchestrator.renderer.**", "orchestrator.pool_size"),
  ...irrelevant("runs do not share a trainer", "orchestrator.optim.**"),
  ...refused(
    "groups without an advantage teach nothing anyway, and there are no other filters",
    "orchestrator.pre_batch_filters.enforce",
    "orchestrator.post_batch_filters.enforce",
  ),
  ...irrelevant(
    "nothing is filtered",
    "orchestrator.pre_batch_filters.**",
    "orchestrator.post_batch_filters.**",
  ),
  ...irrelevant("the platform is not contacted", "orchestrator.prime_monitor.**"),
  ...irrelevant(
    ONE_PROCESS,
    "orchestrator.collect_inference_metrics",
    "orchestrator.inference_metrics_roles",
    "orchestrator.num_train_workers",
  ),
  ...refused("it samples as fast as it can", "orchestrator.tasks_per_minute"),
  ...honoured("rollouts a step", "orchestrator.batch_size"),
  ...refused("count rollouts with batch_size", "orchestrator.token_batch_size"),
  ...irrelevant(
    "every step samples anew, with the newest weights",
    "orchestrator.oversampling_factor",
    "orchestrator.max_inflight_rollouts",
    "orchestrator.max_off_policy_steps",
  ),
  ...honoured(
    "as the shared value",
    "orchestrator.group_size",
    "orchestrator.seq_len",
    "orchestrator.max_steps",
  ),
  ...honoured("the longest sequence", "inference.model.max_model_len"),
  ...refused("the template is the model's own", "inference.model.chat_template"),
  ...irrelevant("the engine samples by itself", "inference.**"),
];

const DATA = ["data", "val.data"];

export const SFT_FIELDS: readonly FieldRule[] = [
  ...blocks(""),
  ...training(""),
  ...honoured("the rows to learn from", ...below(DATA, ["name", "subsets", "splits"])),
  ...honoured(
    "how rows make up steps",
    ...below(DATA, ["batch_size", "seq_len", "micro_batch_size", "seed"]),
  ),
  ...refused("give rows", ...below(DATA, ["type", "length", "input_ids"])),
  ...refused("mix rows beforehand: `spotter dataset convert`", ...below(DATA, ["probabilities"])),
  ...irrelevant("each row counts for itself", ...below(DATA, ["pack_function", "stopping_strategy"])),
  ...refused("rows are shuffled each epoch", ...below(DATA, ["shuffle"])),
  ...honoured("whose messages are learned", ...below(["data"], ["loss_mask.**"])),
  ...refused("what is validated is what is learned: set data.loss_mask", "val.data.loss_mask.**"),
  ...honoured("how often to evaluate", "val.interval"),
  ...refused("the first evaluation is after the first interval", "val.eval_on_start"),
  ...irrelevant("the model's chat template renders", "renderer.**"),
  ...irrelevant(NO_GPU, "loss_impl", "deployment.**"),
];
