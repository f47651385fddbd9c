import * as z from "zod/mini";
import { estimate as estimateSchema, type Estimate } from "./schema/cost.ts";
import { SpotterError } from "./schema/errors.ts";

import { parseWith } from "./schema/parse.ts";
import { retention } from "./schema/cleanup.ts";
import { nonNegativeInt, recordName } from "./schema/common.ts";
import { type GpuClass, hardware } from "./schema/hardware.ts";
import { runEvals } from "./schema/run-eval.ts";
import { adapterSpec, imageOverlay, runEnvironment, runLimits, webhook } from "./schema/run-parts.ts";
import type { RunSpec } from "./schema/run-spec.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type CallOptions, type Client, clientOf } from "./client.ts";
import type { Dataset } from "./dataset.ts";
import { environmentsParam, toolsParam, type EnvironmentParams, type Tools } from "./environment-params.ts";
import type { Model } from "./model.ts";
import type { Prepared } from "./prepare-run.ts";
import type { Recipe } from "./recipe.ts";
import { refusePython } from "./python-params.ts";
import { type Rewards, rewardsParam } from "./rewards-params.ts";
import { Run, runDetail } from "./run.ts";
import { engineParams, type EngineParams } from "./engine-params.ts";
import type { TrackerParams } from "./trackers.ts";
import { refuseTeacher } from "./refuse-teacher.ts";
import type { Teacher } from "./teacher.ts";
import type { PackedDataset } from "./upload.ts";

export interface TrainConfigParams extends EngineParams {
  model: Model | string;
  /** What to learn from. Not needed where there are environments. */
  dataset?: Dataset;
  /** Where to learn by playing: each has tasks, answers the model turn by turn, and judges the whole. */
  environments?: EnvironmentParams[];
  /** Held out; evaluated every `evalEvery` steps of the recipe. */
  evalDataset?: Dataset;
  /** Environments whose tasks are held out, evaluated with `evalDataset`. */
  evalEnvironments?: EnvironmentParams[];
  /** Evals that are repeated with the run's checkpoints, in containers of their own. */
  evals?: RunEvalParams[];
  /** Allow rows of `evalDataset` whose prompts are trained on. Default false. */
  allowOverlap?: boolean;
  recipe: Recipe;
  /** Of `recipes.distill`: who grades what the model writes, or writes what it learns. */
  teacher?: Teacher;
  /** Required for reinforcement learning, unless environments judge. */
  rewards?: Rewards;
  /** What the model may call before it answers; with `maxTurns` of the recipe above 1. */
  tools?: Tools;
  /**
   * Run rewards and tools that are Python (`rewards.py`, `tools.py`) beside the trainer. They are no more guarded than
   * any program that you start: they reach files and the network. Default false: refused.
   */
  allowPython?: boolean;
  /** Train all weights, or a LoRA adapter. Default full. */
  adapter?: "full" | "lora" | { kind: "full" } | LoraParams;
  /** `continue` (default) keeps the optimizer, `weights` starts it fresh. Steps come on top either way. */
  startFrom?: Checkpoint | string | { checkpoint: Checkpoint | string; mode?: "continue" | "weights" };
  name?: string;
  tags?: string[];
  /** By this name the last checkpoint is chatted with once the run has succeeded: an alias, moved if there is one. */
  alias?: string;
  /** Same config, same seed, same weights. Default 0. */
  seed?: number;
  /** Names of secrets the rewards may read. */
  secrets?: string[];
  /**
   * Shell commands that change the engine's image before it starts, as lines of a Dockerfile would. The embedded engine
   * has no image, and says in the log that they were not applied.
   */
  imageOverlay?: string[];
  /** Environment variables of the training process. Values are kept in the clear: no secrets. */
  env?: Record<string, string>;
  /**
   * What it trains on, where there is a choice: on AWS. One machine runs on what it has, and says so in the log.
   * Default: processors; for slime the GPUs that its model is known to need. `spot` is cheaper and may be taken away; the run goes on from its last checkpoint.
   */
  hardware?: HardwareParams;
  limits?: {
    /** When its containers have cost this much it saves a checkpoint and ends with the code `budget_exceeded`. */
    maxCostUsd?: number;
    /** Work of longer than this ends with the code `timeout`. */
    durationMs?: number;
    /** Without progress for this long it counts as stalled; for twice as long, its attempt is given up. Default 30 minutes. */
    stallMs?: number;
  };
  /** Which checkpoints `spotter cleanup` leaves: the newest so many, and every so many steps. Default: all. */
  retention?: { keepLast?: number; keepEvery?: number };
  /** Told when the run has ended, and when it gets nowhere; see docs/webhooks.md. */
  webhooks?: { url: string; events?: ("run.ended" | "run.stalled")[]; secret?: string }[];
  /** Told the metrics while it trains: TensorBoard, MLflow, W&B; see docs/trackers.md. Default: nobody. */
  trackers?: TrackerParams[];
}

export interface RunEvalParams {
  /** Id of an eval that was launched before: its rows, code and settings are used. */
  evalId: string;
  /** A checkpoint is saved and evaluated every so many steps. */
  everySteps: number;
  /** What its metrics are called: `<name>_pass1`. Default: the first 8 characters of the id. */
  name?: string;
  /** Where it measures otherwise than the eval itself. */
  passAt?: { k: number; enabled?: boolean; temperature?: number }[];
}

export interface LaunchOptions extends CallOptions {
  /** Launch it although it will most likely not fit, or takes more than a day. Default false. */
  force?: boolean;
}

export interface HardwareParams {
  gpu?: GpuClass;
  /** Taken in turn, each when there has been no room for ten minutes on the one before. */
  fallbacks?: GpuClass[];
  /** GPUs, on one instance. Default 1. */
  count?: number;
  /** Instances with so many GPUs each: slime trains over several. Default 1. */
  nodes?: number;
  /** Default false. */
  spot?: boolean;
}

export interface LoraParams {
  kind: "lora";
  /** Default 16. */
  rank?: number;
  /** Default twice the rank. */
  alpha?: number;
  /** Default all seven projections. */
  targets?: ("q_proj" | "k_proj" | "v_proj" | "o_proj" | "gate_proj" | "up_proj" | "down_proj")[];
  /**
   * Folder of a PEFT adapter that the run begins with, on the machine that trains. Rank, alpha and targets are the
   * folder's. Default: an adapter that changes nothing yet.
   */
  from?: string;
}

const text = z.string();
const checkpointParam = z.union([
  text.check(z.minLength(1, "is an empty text, expected a checkpoint, written run@step")),
  z.looseObject({ id: text }),
]);
const datasetParam = z.custom<Dataset>(
  (value) => typeof (value as Dataset | undefined)?.load === "function",
  "must be a Dataset: Dataset.fromArray(rows), Dataset.fromFile(path) or your own subclass",
);
const configParams = z.strictObject({
  model: z.union([text, z.looseObject({ name: text, ref: z.unknown() })], {
    error: "must be models.get(...) or a name",
  }),
  dataset: z.optional(datasetParam),
  environments: z.optional(environmentsParam),
  evalDataset: z.optional(datasetParam),
  evalEnvironments: z.optional(environmentsParam),
  evals: z.optional(runEvals),
  allowOverlap: z.optional(z.boolean()),
  recipe: z.looseObject(
    { kind: z.enum(["rl", "sft", "distill"]) },
    { error: "must come from recipes.grpo, recipes.sft or recipes.distill" },
  ),
  teacher: z.optional(
    z.union([text, z.looseObject({})], { error: "must be a model, a checkpoint or an endpoint" }),
  ),
  rewards: z.optional(rewardsParam),
  tools: z.optional(toolsParam),
  allowPython: z.optional(z.boolean()),
  adapter: z.optional(z.union([z.enum(["full", "lora"]), adapterSpec])),
  startFrom: z.optional(
    z.union(
      [
        checkpointParam,
        z.strictObject({ checkpoint: checkpointParam, mode: z.optional(z.enum(["continue", "weights"])) }),
      ],
      { error: "must be a Checkpoint, its id, written run@step, or { checkpoint, mode }" },
    ),
  ),
  name: z.optional(text),
  tags: z.optional(z.array(text)),
  alias: z.optional(recordName),
  seed: z.optional(nonNegativeInt),
  secrets: z.optional(z.array(text)),
  env: z.optional(runEnvironment),
  imageOverlay,
  ...engineParams,
  hardware: z.optional(hardware),
  limits: z.optional(runLimits),
  retention: z.optional(retention),
  webhooks: z.optional(z.array(webhook).check(z.maxLength(10))),
  trackers: z.optional(z.array(z.looseObject({ kind: z.enum(["tensorboard", "mlflow", "wandb"]) }))),
});

/**
 * A training, described. Checked when it is made, launched when you say so, as often as you like.
 *
 * @example
 * const run = await new TrainConfig({
 *   model: "spotter/nano",
 *   dataset,
 *   recipe: recipes.grpo({ steps: 60, promptsPerStep: 16, samplesPerPrompt: 8 }),
 *   rewards: new URL("./rewards.ts", import.meta.url),
 * }).launch();
 */
export class TrainConfig {
  readonly params: Readonly<TrainConfigParams>;

  /** @throws SpotterError `invalid_input` or `unknown_key`, listing everything that is wrong; `python_not_allowed`. */
  constructor(params: TrainConfigParams) {
    parseWith(configParams, params, "TrainConfig");
    const { dataset, environments, recipe, rewards } = params;
    if (dataset === undefined && environments === undefined) {
      throw new SpotterError(
        "invalid_input",
        "TrainConfig is not valid:\n  dataset: missing; give a dataset, or environments",
        { where: "dataset", hint: "Pass dataset: Dataset.fromFile(path), or environments: [{ file }]." },
      );
    }
    if (recipe.kind === "rl" && rewards === undefined && environments === undefined) {
      throw new SpotterError(
        "reward_missing",
        "TrainConfig is not valid:\n  rewards: missing; a grpo recipe needs one",
        {
          where: "rewards",
          hint: 'Pass rewards: new URL("./rewards.ts", import.meta.url).',
        },
      );
    }
    refuseTeacher(params);
    refusePython(params);
    this.params = { ...params };
  }

  /**
   * What would be sent, with all defaults filled in. Loads the datasets and bundles the rewards, uploads
   * nothing and starts nothing; but for environments, whose tasks are loaded in an isolate of the server.
   */
  async spec(options: CallOptions = {}): Promise<RunSpec> {
    return this.#prepared(
      () => clientOf(options),
      ({ spec }) => Promise.resolve(spec),
      options.signal,
    );
  }

  /**
   * What it would take and cost here, with how sure that is: from an earlier run of the same model on the same
   * hardware where there is one, else a rule of thumb with a wide range. Uploads nothing and starts nothing.
   *
   * @example
   * const recipe = recipes.sft({ steps: 100 });
   * const { usd, low, high, basis } = await new TrainConfig({ model: "spotter/nano", dataset, recipe }).estimate();
   * console.log(`$${usd} ($${low.usd} to $${high.usd}). ${basis.text}`);
   */
  async estimate(options: CallOptions = {}): Promise<Estimate> {
    const client = clientOf(options);
    const json = await this.spec(options);
    return client.request(estimateSchema, "POST", "/runs/estimate", { json, signal: options.signal });
  }

  /**
   * Uploads what the server lacks, queues the run and returns at once. The run goes on without this process.
   *
   * @throws SpotterError `dataset_empty`, `dataset_invalid`, `datasets_overlap`, `user_code_invalid`,
   * `reward_missing`, `reward_failed`, `python_missing`, `model_not_found`, `checkpoint_not_found`; `memory_exceeded`
   * and `takes_days` with what would fit, unless `force` is set
   */
  async launch(options: LaunchOptions = {}): Promise<Run> {
    const client = clientOf(options);
    const { signal } = options;
    const upload = async ({ spec, datasets, code }: Prepared) => {
      const { uploadDataset, uploadUserCode } = await import("./upload.ts");
      await Promise.all([
        ...datasets.map((dataset) => uploadDataset(client, dataset, signal)),
        ...code.map((each) => uploadUserCode(client, each, signal)),
      ]);
      return spec;
    };
    const spec = await this.#prepared(() => client, upload, signal);
    // An answer that is lost on the way is asked for again, and never starts a second run.
    const idempotencyKey = crypto.randomUUID();
    const query = { force: options.force ? "true" : undefined };
    const request = { json: spec, query, signal, idempotencyKey, timeoutMs: 120_000 };
    return new Run(client, await client.request(runDetail, "POST", "/runs", request));
  }

  /** Lends what was prepared; its files are gone afterwards. */
  async #prepared<T>(
    client: () => Client,
    use: (prepared: Prepared) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    // Loaded only here: most of it is of no use to scripts that only chat.
    const { prepareRun } = await import("./prepare-run.ts");
    const packed: PackedDataset[] = [];
    try {
      return await use(await prepareRun(this.params, client, packed, signal));
    } finally {
      await Promise.all(packed.map((each) => each.close()));
    }
  }
}
