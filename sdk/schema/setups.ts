import * as z from "zod/mini";
import { countUpTo, displayName, positiveInt, rewardTimeoutMs, sha256 } from "./common.ts";

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
