import type { EntrypointName } from "../../../../sdk/config/prime-rl/entrypoints.ts";

/** A code block of the documentation of prime-rl's configuration: what it says, and what has to come of it. */
export interface Block {
  /** The heading it stands under, and which of the blocks there it is. */
  block: string;
  entrypoint?: EntrypointName;
  /** Files beside the ones that every block may name, by name. */
  files?: Record<string, string>;
  words: string[];
  /** Dotted path → value. Other values of tables are not looked at. */
  expected: Record<string, unknown>;
}

/** The files that blocks name without showing them. */
export const FILES: Record<string, string> = {
  "rl.toml": `
[orchestrator]
batch_size = 128
group_size = 16
[[orchestrator.train.env]]
id = "math-env"
args = { dataset_name = "other", split = "train" }
[trainer.model.lora]
rank = 8
[inference]
`,
  "base.toml":
    '[orchestrator]\nbatch_size = 64\n[[orchestrator.train.env]]\nid = "a"\n[trainer.optim]\nlr = 1.0\n',
  "overlay.toml": "[trainer.optim]\nlr = 2.0\n",
  "trainer.toml": "[optim]\nlr = 3.0\n",
  "orch.toml": '[[train.env]]\nid = "b"\n',
  "two.toml": '[trainer.model.lora]\ntarget_modules = ["q_proj"]\n',
  "empty.toml": '[trainer]\n[[orchestrator.train.env]]\nid = "a"\n',
};

const RL = ["@", "rl.toml"];
const ON_EMPTY = ["@", "empty.toml", "@", "block.toml"];
const LORA = "trainer.model.lora.target_modules";
const QKV = ["q_proj", "k_proj", "v_proj"];
const GSM8K = { dataset_name: "openai/gsm8k", dataset_subset: "main" };

const inFile = (block: string, text: string, expected: Record<string, unknown>): Block => ({
  block,
  files: { "block.toml": text },
  words: ON_EMPTY,
  expected,
});

export const BLOCKS: Block[] = [
  // TOML composition
  {
    block: "TOML composition, one file",
    words: ["@", "examples/reverse_text/rl.toml"],
    expected: { max_steps: 20, "trainer.optim.lr": 3e-6 },
  },
  {
    block: "TOML composition, left to right",
    words: ["@", "base.toml", "@", "overlay.toml"],
    expected: { "trainer.optim.lr": 2, "orchestrator.batch_size": 64 },
  },
  {
    block: "TOML composition, a file a section",
    words: ["--trainer", "@", "trainer.toml", "--orchestrator", "@", "orch.toml"],
    expected: { "trainer.optim.lr": 3, "orchestrator.train.env.0.id": "b" },
  },
  {
    block: "TOML composition, mixed",
    words: ["@", "base.toml", "--trainer", "@", "trainer.toml"],
    expected: { "trainer.optim.lr": 3, "orchestrator.batch_size": 64 },
  },
  // CLI overrides, a line each
  { block: "CLI overrides, top level", words: [...RL, "--max-steps", "50"], expected: { max_steps: 50 } },
  {
    block: "CLI overrides, nested",
    words: [...RL, "--model.name", "Qwen/Qwen3-4B"],
    expected: { "trainer.model.name": "Qwen/Qwen3-4B", "inference.model.name": "Qwen/Qwen3-4B" },
  },
  {
    block: "CLI overrides, twice nested",
    words: [...RL, "--trainer.optim.lr", "1e-5"],
    expected: { "trainer.optim.lr": 1e-5 },
  },
  {
    block: "CLI overrides, of inference",
    words: [...RL, "--inference.parallel.tp", "4", "--deployment.num-infer-gpus", "4"],
    expected: { "inference.parallel.tp": 4 },
  },
  {
    block: "CLI overrides, a renamed field, in a file and as a flag",
    files: { "old.toml": "[orchestrator]\nrollouts_per_example = 4\n" },
    words: [...RL, "@", "old.toml", "--orchestrator.group-size", "8"],
    expected: { "orchestrator.group_size": 8, "orchestrator.train.env.0.group_size": 8 },
  },
  {
    block: "CLI overrides, a renamed field, the other way round",
    words: [...RL, "--orchestrator.rollouts-per-example", "8"],
    expected: { "orchestrator.group_size": 8 },
  },
  // Booleans
  { block: "Booleans, on", words: [...RL, "--clean-output-dir"], expected: { clean_output_dir: true } },
  { block: "Booleans, off", words: [...RL, "--no-clean-output-dir"], expected: { clean_output_dir: false } },
  inFile("Booleans, in TOML", "clean_output_dir = true", { clean_output_dir: true }),
  // Lists
  {
    block: "Lists, by space",
    words: [...RL, "--trainer.model.lora.target-modules", ...QKV],
    expected: { [LORA]: QKV, "trainer.model.lora.rank": 8 },
  },
  {
    block: "Lists, as JSON",
    words: [...RL, "--trainer.model.lora.target-modules", '["q_proj", "k_proj", "v_proj"]'],
    expected: { [LORA]: QKV },
  },
  inFile("Lists, in TOML", '[trainer.model.lora]\ntarget_modules = ["q_proj", "k_proj", "v_proj"]', {
    [LORA]: QKV,
  }),
  {
    block: "Lists, replaced whole by an overlay",
    files: { "one.toml": '[trainer.model.lora]\ntarget_modules = ["o_proj"]\n' },
    words: ["@", "empty.toml", "@", "one.toml", "@", "two.toml"],
    expected: { [LORA]: ["q_proj"] },
  },
  // Dicts
  {
    block: "Dicts, as JSON over a file",
    words: [
      ...RL,
      "--orchestrator.train.env.0.args",
      '{"dataset_name": "openai/gsm8k", "dataset_subset": "main"}',
    ],
    expected: { "orchestrator.train.env.0.args": { ...GSM8K, split: "train" } },
  },
  inFile(
    "Dicts, in TOML",
    '[[orchestrator.train.env]]\nid = "math-env"\nargs = { dataset_name = "openai/gsm8k", dataset_subset = "main" }',
    { "orchestrator.train.env.0.args": GSM8K },
  ),
  // Optional sub-configs
  ...(["--model.compile", "--model.compile.fullgraph", "--no-model.compile"] as const).map((flag) => ({
    block: `Optional sub-configs, ${flag}`,
    entrypoint: "trainer" as const,
    words: [flag],
    expected: {
      "model.compile": flag === "--no-model.compile" ? null : { fullgraph: flag.endsWith("fullgraph") },
    },
  })),
  ...(
    [
      ["[model.compile]", { fullgraph: false }],
      ["[model.compile]\nfullgraph = true", { fullgraph: true }],
      ['[model]\ncompile = "None"', null],
    ] as const
  ).map(([text, value]) => ({
    block: `Optional sub-configs, ${JSON.stringify(text)}`,
    entrypoint: "sft" as const,
    files: { "block.toml": text },
    words: ["@", "block.toml"],
    expected: { "model.compile": value },
  })),
  ...(["ckpt", "trainer.model.lora"] as const).flatMap((path): Block[] => [
    {
      block: `Optional sub-configs, [${path}] off`,
      words: [...RL, `--no-${path.replace("_", "-")}`],
      expected: { [path]: null },
    },
    inFile(`Optional sub-configs, [${path}] on`, `[${path}]`, { [`${path}`]: {} }),
  ]),
  inFile("Optional sub-configs, [trainer.wandb] on", "[trainer.wandb]\n[orchestrator.wandb]", {
    "trainer.wandb.project": "prime-rl",
  }),
  // None
  inFile("None, in TOML", '[inference.model]\nmax_model_len = "None"', {
    "inference.model.max_model_len": null,
  }),
  {
    block: "None, on the command line",
    files: { "long.toml": "[inference.model]\nmax_model_len = 9\n" },
    words: [...RL, "@", "long.toml", "--inference.model.max-model-len", "None"],
    expected: { "inference.model.max_model_len": null },
  },
  // Discriminated unions
  inFile("Discriminated unions", '[trainer.optim]\ntype = "muon"\nlr = 1e-5\nmu = 0.95', {
    "trainer.optim": { type: "muon", lr: 1e-5, mu: 0.95, betas2: 0.95 },
  }),
  inFile("Discriminated unions, without type", "[trainer.optim]\nlr = 1e-5", {
    "trainer.optim": { type: "adamw", betas1: 0.9 },
  }),
  // Environments
  inFile(
    "Environments",
    `
[[orchestrator.train.env]]
id = "math-env"
name = "gsm8k"
args = { dataset_name = "openai/gsm8k", dataset_subset = "main" }
ratio = 3  # 75% of batches

[[orchestrator.train.env]]
id = "reverse-text"
ratio = 1  # default

[[orchestrator.eval.env]]
id = "math-env"
name = "gsm8k-eval"
args = { dataset_name = "openai/gsm8k", dataset_subset = "main" }
`,
    {
      "orchestrator.train.env.0": { id: "math-env", name: "gsm8k", args: GSM8K, ratio: 3 },
      "orchestrator.train.env.1": { id: "reverse-text", name: null, args: {}, ratio: 1 },
      "orchestrator.eval.env.0": { id: "math-env", name: "gsm8k-eval", args: GSM8K },
    },
  ),
  // Replaying past rollouts
  inFile(
    "Replaying past rollouts",
    `
[[orchestrator.train.env]]
name = "my-env-continue"
taskset = { id = "replay", records = "/data/run1/rollouts/step_*/train_rollouts_<env>.jsonl", mode = "continue", source = { id = "my-env-v1" } }
harness = { id = "rlm" }

[[orchestrator.train.env]]
name = "my-env-recheck"
taskset = { id = "replay", records = "/data/run1/rollouts/step_*/train_rollouts_<env>.jsonl", mode = "recheck", source = { id = "my-env-v1" } }
harness = { id = "null" }
`,
    {
      "orchestrator.train.env.0.taskset": { id: "replay", mode: "continue", source: { id: "my-env-v1" } },
      "orchestrator.train.env.0.harness": { id: "rlm" },
      "orchestrator.train.env.1.taskset": { mode: "recheck" },
      "orchestrator.train.env.1.harness": { id: "null" },
    },
  ),
  // Environment variables
  inFile(
    "Environment variables, of every process",
    '[env_vars]\nHF_HUB_OFFLINE = "1"\nTOKENIZERS_PARALLELISM = "false"',
    {
      env_vars: { HF_HUB_OFFLINE: "1", TOKENIZERS_PARALLELISM: "false" },
    },
  ),
  inFile(
    "Environment variables, of each process",
    `
[trainer.env_vars]
NCCL_DEBUG = "INFO"
PYTORCH_CUDA_ALLOC_CONF = "expandable_segments:False"
[inference.env_vars]
VLLM_USE_DEEP_GEMM = "1"
[orchestrator.env_vars]
PI_USAGE_BASE_URL = "https://..."
`,
    {
      "trainer.env_vars": { NCCL_DEBUG: "INFO", PYTORCH_CUDA_ALLOC_CONF: "expandable_segments:False" },
      "inference.env_vars": { VLLM_USE_DEEP_GEMM: "1" },
      "orchestrator.env_vars": { PI_USAGE_BASE_URL: "https://..." },
    },
  ),
];
