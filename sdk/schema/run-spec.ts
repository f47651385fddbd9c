import * as z from "zod/mini";
import { retention } from "./cleanup.ts";
import {
  countUpTo,
  displayName,
  nonNegativeInt,
  positiveInt,
  recordName,
  rewardTimeoutMs,
  runTags,
  sha256,
} from "./common.ts";
import { grpoAlgorithm, grpoFaults } from "./grpo-algorithm.ts";
import { hardware } from "./hardware.ts";
import { checkpointId, modelRef } from "./model.ts";
import { runEvals } from "./run-eval.ts";
import { trackers } from "./tracker.ts";
import { sftAlgorithm } from "./sft-algorithm.ts";
import { MAX_SEQUENCES, trainerConflicts, trainerSpec } from "./trainer-spec.ts";
import { distillAlgorithm, teacherFaults, teacherSpec } from "./teacher.ts";

/** Where on a hub rows came from: the revision is pinned to a commit. */
export const datasetSource = z.strictObject({
  repo: z.string(),
  config: z.optional(z.string()),
  split: z.string(),
  commit: z.string(),
});
export type DatasetSource = z.infer<typeof datasetSource>;

/** Rows uploaded beforehand (`POST /datasets`), by content hash. */
export const datasetRef = z.strictObject({
  sha256,
  rows: positiveInt,
  /** Column that fills `{input}` of the prompt template. */
  inputColumn: z.optional(z.string()),
  name: z.optional(z.string()),
  source: z.optional(datasetSource),
});
export type DatasetRef = z.infer<typeof datasetRef>;

/** Bundled user code, by content hash (`POST /user-code`). */
export const userCodeRef = z.strictObject({
  sha256,
  /** Names of granted secrets. */
  secrets: z._default(z.array(z.string()), []),
});
export type UserCodeRef = z.infer<typeof userCodeRef>;

/** Weights and time limit of the rewards that judge; absent names: every exported reward. */
export const rewardSetup = z.strictObject({
  code: userCodeRef,
  names: z.optional(z.array(z.string())),
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
  /** Share of verdicts that may be missing before the run fails with the first cause. */
  maxMissingShare: z._default(z.number().check(z.gte(0), z.lte(1)), 0.2),
});

export type RewardSetup = z.infer<typeof rewardSetup>;

/** Functions the model may call while it answers; absent names: every exported tool. */
export const toolSetup = z.strictObject({
  code: userCodeRef,
  names: z.optional(z.array(z.string())),
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
});
export type ToolSetup = z.infer<typeof toolSetup>;

const pythonNames = { file: z.string(), names: z.optional(z.array(z.string())) };
const { timeoutMs: pythonTimeoutMs, maxMissingShare } = rewardSetup.shape;

/** Rewards and tools that are Python: run beside the trainer, in the job's own container. */
export const pythonSetup = z.strictObject({
  /** A `pythonBundle`, see sdk/schema/user-code.ts. */
  code: userCodeRef,
  rewards: z.optional(z.strictObject({ ...pythonNames, timeoutMs: pythonTimeoutMs, maxMissingShare })),
  tools: z.optional(z.strictObject({ ...pythonNames, timeoutMs: pythonTimeoutMs })),
});
export type PythonSetup = z.infer<typeof pythonSetup>;

/** Where rows of the dataset with `environment: name` are played. */
export const environmentSetup = z.strictObject({
  name: displayName,
  code: userCodeRef,
  /** The exported environment. */
  export: z.string(),
  /** How often its tasks are drawn, relative to those of the other environments. */
  ratio: z._default(z.number().check(z.gt(0), z.lte(1e6)), 1),
  /** Answers of an episode at most; at most `maxTurns` of the rollout as well. */
  maxTurns: z.optional(countUpTo(1_000)),
  /** Of each call of `setup`, `step` and a tool. */
  timeoutMs: z._default(rewardTimeoutMs, 10_000),
});
export type EnvironmentSetup = z.infer<typeof environmentSetup>;

/** Read by the engine's own process before it is the run's, or by the system that starts it. */
const PROTECTED_VARIABLES =
  /^(SPOTTER_|NODE_|AWS_|ECS_|LD_|DYLD_|GLIBC_|MALLOC_|(PATH|HOME|TMPDIR|SHELL|IFS|ENV|BASH_ENV)$)/;

/** Environment variables of the run's process. What starts and guards the process cannot be set. */
export const runEnvironment = z
  .record(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "is no name of an environment variable")),
    z.string().check(z.maxLength(32_768)),
  )
  .check(
    z.refine((env) => Object.keys(env).every((name) => !PROTECTED_VARIABLES.test(name)), {
      error: ({ input }) =>
        `cannot set ${Object.keys(input as object)
          .filter((name) => PROTECTED_VARIABLES.test(name))
          .join(", ")}: the process is started and guarded with them`,
    }),
  );

export const adapterSpec = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("full") }),
  z.strictObject({
    kind: z.literal("lora"),
    rank: z._default(countUpTo(1_024), 16),
    /** Default: twice the rank. */
    alpha: z.optional(z.number().check(z.gt(0))),
    targets: z._default(
      z
        .array(z.enum(["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
        .check(z.minLength(1)),
      ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    ),
    /** Absolute path, where the trainer runs, of a PEFT folder of this shape: the run begins with its weights. */
    from: z.optional(z.string().check(z.minLength(1))),
  }),
]);

export const rolloutSpec = z.strictObject({
  promptsPerStep: z._default(countUpTo(4_096), 16),
  samplesPerPrompt: z._default(countUpTo(1_024), 8),
  maxTokens: z._default(countUpTo(131_072), 256),
  /** Scores are divided by it, in sampling and in learning: next to 0 they overflow. */
  temperature: z._default(z.number().check(z.gte(0.01), z.lte(4)), 1),
  topP: z._default(z.number().check(z.gt(0), z.lte(1)), 1),
  topK: z._default(nonNegativeInt, 0),
  /** Answers of a conversation with tools or an environment at most. */
  maxTurns: z._default(countUpTo(1_000), 1),
  /** `last_tool`: over with an answer that calls no tool; `max_turns`: over after `maxTurns` answers. */
  terminationPolicy: z._default(z.enum(["last_tool", "max_turns"]), "last_tool"),
  /** Longest answer of a tool in tokens; what is longer is cut. Absent: as much as there is room for. */
  maxToolTokens: z.optional(countUpTo(131_072)),
  /** Longest conversation in tokens. Absent: what the model takes. */
  contextTokens: z.optional(countUpTo(10_000_000)),
  /**
   * Whether the model and the rewards see what it thought before earlier answers. If not, a conversation in which it
   * thought is stored in branches: each what the model saw in one piece.
   */
  includeThinking: z._default(z.boolean(), true),
  /** The conversations of a step must be over by then; one that is not has no verdict. Default: an hour. */
  rolloutTimeoutMs: z._default(positiveInt, 3_600_000),
  /** Handed to the chat template, for example `{ enable_thinking: false }`. */
  chatTemplateKwargs: z._default(z.record(z.string(), z.unknown()), {}),
});

export const algorithmSpec = z.discriminatedUnion("kind", [grpoAlgorithm, sftAlgorithm, distillAlgorithm]);

export const startPoint = z.strictObject({
  checkpoint: checkpointId,
  /** `continue` keeps the optimizer; `weights` starts it fresh. Steps are always additional. */
  mode: z._default(z.enum(["continue", "weights"]), "continue"),
});

/** Where to tell what becomes of a run; see docs/webhooks.md. */
export const webhook = z.strictObject({
  url: z
    .string()
    .check(
      z.maxLength(2_000),
      z.regex(/^https?:\/\/[^/@\s]+(\/\S*)?$/, "must be an http or https URL without a user"),
    ),
  /** Default: all. */
  events: z._default(z.array(z.enum(["run.ended", "run.stalled"])).check(z.minLength(1)), [
    "run.ended",
    "run.stalled",
  ]),
  /** Name of a stored secret; what is sent is signed with its value. */
  secret: z.optional(z.string()),
});
export type Webhook = z.infer<typeof webhook>;

/** One training, fully resolved: what every dialect comes down to. */
export const runSpec = z
  .strictObject({
    kind: z.enum(["rl", "sft", "distill"]),
    name: z.optional(displayName),
    tags: z._default(runTags, []),
    /** By this name the last checkpoint is chatted with, once the run has succeeded. */
    alias: z.optional(recordName),
    model: modelRef,
    adapter: z._default(adapterSpec, { kind: "full" }),
    dataset: datasetRef,
    evalDataset: z.optional(datasetRef),
    /** Evaluate on `evalDataset` every N steps; null: never. */
    evalEvery: z._default(z.nullable(positiveInt), null),
    /** Evals that are repeated with its checkpoints, in containers of their own; see docs/evals.md. */
    evals: z.optional(runEvals),
    /** Of kind distill: who grades what the student writes, or writes what it learns. */
    teacher: z.optional(teacherSpec),
    rewards: z.optional(rewardSetup),
    tools: z.optional(toolSetup),
    python: z.optional(pythonSetup),
    environments: z.optional(z.array(environmentSetup).check(z.minLength(1), z.maxLength(100))),
    rollout: z.prefault(rolloutSpec, {}),
    algorithm: algorithmSpec,
    trainer: trainerSpec,
    startFrom: z.optional(startPoint),
    engine: z._default(z.enum(["onnx", "slime"]), "onnx"),
    /** Of engine slime: its own settings by its own names; sdk/schema/engines/slime-settings.ts has them. */
    slime: z.optional(z.record(z.string(), z.unknown())),
    /** Shell commands that change the engine's image before it starts. The embedded engine has none. */
    imageOverlay: z.optional(
      z.array(z.string().check(z.minLength(1), z.maxLength(8_000))).check(z.maxLength(50)),
    ),
    env: z._default(runEnvironment, {}),
    /** What it trains on where there is a choice. Absent: the processors of the home's usual container. */
    hardware: z.optional(hardware),
    limits: z.prefault(
      z.strictObject({
        durationMs: z.optional(positiveInt),
        /** When its containers have cost this much it saves a checkpoint and ends as failed: `budget_exceeded`. */
        maxCostUsd: z.optional(z.number().check(z.gt(0))),
        /** Without progress for this long a run counts as stalled, for twice as long its attempt as lost. */
        stallMs: z.optional(positiveInt),
      }),
      {},
    ),
    /** What of its checkpoints `spotter cleanup` leaves. Absent: all. */
    retention: z.optional(retention),
    webhooks: z.optional(z.array(webhook).check(z.maxLength(10))),
    /** Where its metrics are told while it trains; see docs/trackers.md. */
    trackers: z.optional(trackers),
    seed: z._default(nonNegativeInt, 0),
  })
  .check(
    z.refine((spec) => spec.trainer.steps > 0, {
      path: ["trainer", "steps"],
      message: "must be at least 1: a run with no step does no work",
    }),
    z.refine(
      ({ kind, rewards, python, environments }) =>
        kind !== "rl" || (rewards ?? python?.rewards ?? environments) !== undefined,
      { path: ["rewards"], message: "missing; an rl run needs at least one reward, or an environment" },
    ),
    z.refine(({ rewards, python }) => rewards === undefined || python?.rewards === undefined, {
      path: ["python", "rewards"],
      message: "judge as well as rewards; write all rewards in one language",
    }),
    z.refine(
      ({ environments = [] }) => new Set(environments.map(({ name }) => name)).size === environments.length,
      {
        path: ["environments"],
        message: "two have the same name; give each a name of its own",
      },
    ),
    z.check(({ value, issues }) => {
      for (const { key, message } of trainerConflicts(value.trainer))
        issues.push({ code: "custom", input: value, path: ["trainer", key], message });
    }),
    z.refine(
      ({ kind, rewards, python, environments }) =>
        kind !== "rl" || (rewards ?? python?.rewards ?? environments) !== undefined,
      { path: ["rewards"], message: "missing; an rl run needs at least one reward, or an environment" },
    ),
    z.refine(({ rewards, python }) => rewards === undefined || python?.rewards === undefined, {
      path: ["python", "rewards"],
      message: "judge as well as rewards; write all rewards in one language",
    }),
    z.refine(
      ({ environments = [] }) => new Set(environments.map(({ name }) => name)).size === environments.length,
      {
        path: ["environments"],
        message: "two have the same name; give each a name of its own",
      },
    ),
    z.refine((spec) => spec.kind !== "sft" || spec.environments === undefined, {
      path: ["environments"],
      message:
        "are played, and there is nothing to play in a run of kind sft; give a dataset with completions",
    }),
    z.refine((spec) => spec.algorithm.kind === (spec.kind === "rl" ? "grpo" : spec.kind), {
      path: ["algorithm", "kind"],
      message: 'must be "sft" for kind sft, "distill" for kind distill and "grpo" for kind rl',
    }),
    z.check(({ value, issues }) => {
      for (const { path, message } of teacherFaults(value))
        issues.push({ code: "custom", input: value, path, message });
    }),
    z.refine(({ engine, slime }) => engine === "slime" || slime === undefined, {
      path: ["slime"],
      message: 'are settings of slime; set engine to "slime"',
    }),
    z.refine(({ rollout }) => rollout.promptsPerStep * rollout.samplesPerPrompt <= MAX_SEQUENCES, {
      path: ["rollout", "samplesPerPrompt"],
      message: `times promptsPerStep must be at most ${MAX_SEQUENCES}: a step keeps all its samples in memory`,
    }),
    z.check(({ value, issues }) => {
      if (value.algorithm.kind !== "grpo") return;
      for (const { path, message } of grpoFaults(value.algorithm, value.rollout))
        issues.push({ code: "custom", input: value, path, message });
    }),
  );
export type RunSpec = z.infer<typeof runSpec>;
export type RunSpecInput = z.input<typeof runSpec>;
