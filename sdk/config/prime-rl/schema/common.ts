import * as z from "zod";
import { bool, choice, float, int, list, off, on, path, section, text, variants } from "./fields.ts";

/** What the launcher sets last for every process; a configuration may not name them. */
export const PROTECTED_ENV_VARS = [
  "CUDA_VISIBLE_DEVICES",
  "WANDB_SHARED_LABEL",
  "WANDB_SHARED_MODE",
  "WANDB_SHARED_RUN_ID",
] as const;

const protectedNames: ReadonlySet<string> = new Set(PROTECTED_ENV_VARS);

/** Environment variables of the launched processes, without the ones the launcher owns. */
export function envVars(help: string): z.ZodType<Record<string, string>> {
  return z
    .record(z.string(), z.string())
    .superRefine((given, context) => {
      for (const name of Object.keys(given).filter((each) => protectedNames.has(each)))
        context.addIssue({
          code: "custom",
          path: [name],
          message: `${name} cannot be set here: the launcher sets it itself, after every other variable`,
          params: { hint: `Remove ${name} from env_vars.` },
        });
    })
    .prefault({})
    .meta({ description: help });
}

const logFields = {
  level: text("What the process logs at least: debug, info, warning or error.", "info"),
  vf_level: text("The same for the environments' own log lines.", "info"),
  json_logging: bool("Log one JSON object a line, for programs that collect logs.", false),
  log_data: bool("Log the first sample of the data at the start.", false),
  interval: float("Seconds between the periodic log lines.", 10, { above: 0 }),
};
const Log = z.strictObject(logFields);
const TrainerLog = z.strictObject({
  ...logFields,
  ranks_filter: list(z.int(), "The ranks whose lines reach the console.", [0]),
});
export const log = section(Log, "What is logged, and how.");
export const trainerLog = section(TrainerLog, "What is logged, how, and from which ranks.");

const wandbFields = {
  project: text("The W&B project.", "prime-rl"),
  entity: text("The W&B team or user.", null),
  name: text("The name of the run.", null),
  group: text("The group of the run.", null),
  tags: list(z.string(), "Tags of the run.", null),
  offline: bool("Keep the records on this machine.", false),
};
const LogExtras = z.strictObject({
  samples: bool("Log prompts and answers.", true),
  distributions: bool("Log how rewards and advantages are spread.", true),
  interval: int("Steps between two such logs.", 10, { min: 1 }),
  sample_ratio: float("The share of a step's rollouts that is logged; null logs all.", null, {
    min: 0,
    max: 1,
  }),
});
export const logExtras = on(LogExtras, "Samples and distributions, now and then.");
export const wandb = off(z.strictObject(wandbFields), "Weights & Biases; off unless named.");
export const wandbWithExtras = off(
  z.strictObject({ ...wandbFields, log_extras: logExtras }),
  "Weights & Biases; off unless named.",
);

const Tokenizer = z.strictObject({
  name: text("The tokenizer, if it is not the model's own.", null),
  trust_remote_code: bool("Run code from the tokenizer's repository; null means as for the model.", null),
  chat_template: text("A Jinja template, or a file with one, instead of the tokenizer's own.", null),
});
export const tokenizer = section(Tokenizer, "The tokenizer; by default the model's own.");
export const sharedTokenizer = off(Tokenizer, "The tokenizer of every component.");

const Vlm = z.strictObject({
  vision_encoder_attr: text("Where the vision encoder sits in the model: model.visual."),
  language_model_attr: text("Where the language model sits: model.language_model."),
  freeze_vision_encoder: bool("Leave the vision encoder as it is.", true),
});
export const vlm = off(Vlm, "Makes the model a vision-language model.");

/** The start of every model section. */
export const modelFields = {
  name: text("A model by its hub name, or a folder.", "Qwen/Qwen3-0.6B"),
  trust_remote_code: bool("Run code from the model's repository.", false),
  vlm,
};

const Slurm = z.strictObject({
  job_name: text("The name of the job.", "prime-rl"),
  project_dir: path("The project folder on the cluster.", "."),
  template_path: path("A job template of your own.", null),
  partition: text("The partition to queue in.", "cluster"),
  nodelist: text("Only these nodes, separated by commas.", null),
  exclude: text("Not these nodes, separated by commas.", null),
  account: text("The account that pays.", null),
  time: text("The longest run time: 24:00:00 or 7-00:00:00.", null),
  pre_run_command: text("A shell command on the head node before the start.", null),
  cleanup_grace_period: int(
    "Seconds between a failure and the end of the job, for checkpoints to finish.",
    3600,
    {
      min: 0,
    },
  ),
  shared_fs: bool("All nodes see the same project folder.", true),
});
export const slurm = off(Slurm, "Submit to SLURM. Accepted when resolving; here the gym schedules instead.");

const FileSystemTransport = z.strictObject({ type: z.literal("filesystem") });
const ZmqTransport = z.strictObject({
  type: z.literal("zmq"),
  host: text("The host of the sockets.", "localhost"),
  port: int("The first port.", 5555),
  hwm: int("How many messages a socket may hold.", 10),
});
export const rolloutTransport = variants(
  "type",
  [FileSystemTransport, ZmqTransport],
  "filesystem",
  "How rollouts go from the orchestrator to the trainer.",
);

/** The fields of an NCCL broadcast that trainer and orchestrator share. */
export const ncclFields = {
  type: z.literal("nccl"),
  host: text("The host of the rendezvous.", "localhost"),
  port: int("The port of the rendezvous.", 29501),
  timeout: int("Seconds until a broadcast is given up.", 1200),
  quantize_in_weight_transfer: bool("Send weights as FP8 in the kernels' own layout.", false),
};

export const heartbeat = off(
  z.strictObject({ url: text("The address to call.") }),
  "Call an address regularly while all is well.",
);
export const gc = on(
  z.strictObject({ interval: int("Steps between two collections.", 50, { min: 1 }) }),
  "Collect Python's garbage on all ranks at once.",
);
export const bench = off(
  z.strictObject({ output_json: path("Write the result here as JSON.", null) }),
  "Measure: four steps on made-up data.",
);
export const matmulPrecision = choice(
  ["highest", "high", "medium"],
  "The precision of float32 matrix products.",
  "high",
);
export const distTimeout = int("Seconds until a collective operation is given up.", 3600);
export const weightFormat = choice(["safetensors", "torch"], "The format of weight files.", "safetensors");
