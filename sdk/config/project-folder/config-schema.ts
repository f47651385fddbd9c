import * as z from "zod/mini";

/** Rollouts that may be under way at once. */
export const MAX_CONCURRENCY = 2_048;

const text = z.string();
const maybeText = z._default(z.nullable(text), null);
const count = z.number().check(z.int(), z.gte(1));
const countUpTo = (max: number) => z.number().check(z.int(), z.gte(1), z.lte(max));
const finite = z.number();

/** What a fine-tuned model was resolved to elsewhere: nothing a user may set. */
export const INTERNAL_KEYS = [
  "_resolvedCheckpointPath",
  "_baseModelName",
  "_resolvedSamplerCheckpointPath",
] as const;

export const DATASET_TYPES = ["rl", "sft", "distill", "midtrain"] as const;
export const REASONING_MODES = ["disabled", "none", "minimal", "low", "medium", "high", "xhigh"] as const;

const dataSection = z.strictObject({
  train_file: z._default(text.check(z.minLength(1)), "train.jsonl"),
  batch_size: countUpTo(32),
  group_size: z._default(countUpTo(64), 4),
  val_split: z._default(z.nullable(finite.check(z.gte(0), z.lt(1))), null),
});

const modelSection = z.strictObject({
  path: z.union([text, z.array(text).check(z.minLength(1))]),
  qlora_rank: z._default(count, 32),
  qlora_alpha: z._default(z.nullable(count), null),
  name: maybeText,
  description: maybeText,
});

const teacherSection = z.strictObject({
  path: text,
  agentic: z._default(z.boolean(), false),
});

const algorithmSection = z.strictObject({
  loss_fn: z._default(z.enum(["ppo", "importance_sampling"]), "ppo"),
  adv_estimator: z._default(z.enum(["grpo", "gae", "reinforce"]), "grpo"),
  /** Absent: 0.01 for rl, 1 for distill. */
  kl_penalty_coef: z.optional(finite.check(z.gte(0))),
});

const rolloutSection = z.strictObject({
  max_turns: z._default(count, 1),
  max_context_window: z._default(count, 32_768),
  termination_policy: z._default(z.enum(["last_tool", "max_turns"]), "last_tool"),
  reasoning_mode: z._default(z.nullable(z.enum(REASONING_MODES)), null),
  mcp_url: z._default(z.nullable(z.union([text, z.array(text).check(z.minLength(1))])), null),
  tool_timeout: z._default(countUpTo(3_600), 60),
  reward_timeout: z._default(countUpTo(3_600), 60),
  max_tool_response: z._default(z.nullable(count), null),
  include_thinking: z._default(z.boolean(), false),
  /** null: an hour. */
  rollout_timeout: z._default(z.nullable(countUpTo(604_800)), null),
});

const trainerSection = z.strictObject({
  num_epochs: countUpTo(100_000),
  learning_rate: z._default(finite.check(z.gt(0), z.lte(1)), 1e-4),
  /** -1: at the end only. 0 is refused by a rule of its own. */
  save_step: z._default(z.number().check(z.int(), z.gte(-1)), -1),
  max_billing: z._default(z.nullable(finite.check(z.gt(0))), null),
});

const passTemperature = z.optional(z.nullable(finite.check(z.gte(0), z.lte(2))));
const passSwitch = z.optional(z.nullable(z.boolean()));

const evalEntry = z.strictObject({
  eval_id: text.check(z.minLength(1)),
  step: count,
  name: maybeText,
  pass1: passSwitch,
  pass4: passSwitch,
  pass8: passSwitch,
  pass1_temp: passTemperature,
  pass4_temp: passTemperature,
  pass8_temp: passTemperature,
});

/** config.yml, key by key, with types, bounds and defaults. What depends on more than one key is in config-rules.ts. */
export const projectConfig = z.strictObject({
  project_id: z._default(z.nullable(text), ""),
  project_name: z._default(z.nullable(text), ""),
  description: maybeText,
  organization_id: maybeText,
  dataset_type: z.enum(DATASET_TYPES),
  data: dataSection,
  model: modelSection,
  teacher: z.optional(z.nullable(teacherSection)),
  algorithm: z.optional(z.nullable(algorithmSection)),
  rollout: z.optional(z.nullable(rolloutSection)),
  trainer: trainerSection,
  evals: z._default(z.nullable(z.array(evalEntry)), []),
});
export type ProjectConfig = z.infer<typeof projectConfig>;
export type DatasetType = ProjectConfig["dataset_type"];

export const algorithmDefaults = z.parse(algorithmSection, {});
export const rolloutDefaults = z.parse(rolloutSection, {});
export type RolloutConfig = z.infer<typeof rolloutSection>;
export type AlgorithmConfig = z.infer<typeof algorithmSection>;
