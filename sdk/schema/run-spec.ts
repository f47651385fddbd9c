import * as z from "zod/mini";
import { retention } from "./cleanup.ts";
import { displayName, nonNegativeInt, positiveInt, recordName, runTags } from "./common.ts";
import { distillAlgorithm } from "./distill-algorithm.ts";
import { grpoAlgorithm } from "./grpo-algorithm.ts";
import { grpoFaults } from "./grpo-faults.ts";
import { hardware } from "./hardware.ts";
import { checkpointId, modelRef } from "./model.ts";
import { runEvals } from "./run-eval.ts";
import { rolloutSpec } from "./rollout-spec.ts";
import { adapterSpec, imageOverlay, runEnvironment, runLimits, webhook } from "./run-parts.ts";
import { trackers } from "./tracker.ts";
import { sftAlgorithm } from "./sft-algorithm.ts";
import { trainerConflicts } from "./trainer-conflicts.ts";
import { MAX_SEQUENCES, trainerSpec } from "./trainer-spec.ts";
import { datasetRef, environmentSetup, pythonSetup, rewardSetup, toolSetup } from "./setups.ts";
import { teacherFaults, teacherSpec } from "./teacher.ts";

export { rolloutSpec } from "./rollout-spec.ts";
export { adapterSpec, runEnvironment, webhook, type Webhook } from "./run-parts.ts";

export {
  datasetSource,
  datasetRef,
  userCodeRef,
  rewardSetup,
  toolSetup,
  pythonSetup,
  environmentSetup,
  type DatasetSource,
  type DatasetRef,
  type UserCodeRef,
  type RewardSetup,
  type ToolSetup,
  type PythonSetup,
  type EnvironmentSetup,
} from "./setups.ts";

export const algorithmSpec = z.discriminatedUnion("kind", [grpoAlgorithm, sftAlgorithm, distillAlgorithm]);

export const startPoint = z.strictObject({
  checkpoint: checkpointId,
  /** `continue` keeps the optimizer; `weights` starts it fresh. Steps are always additional. */
  mode: z._default(z.enum(["continue", "weights"]), "continue"),
});

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
    imageOverlay,
    env: z._default(runEnvironment, {}),
    /** What it trains on where there is a choice. Absent: the processors of the home's usual container. */
    hardware: z.optional(hardware),
    limits: z.prefault(runLimits, {}),
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
