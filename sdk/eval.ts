import * as z from "zod/mini";
import { evalRecord, evalRollout, evalSettings } from "./schema/eval.ts";
import { passAt, type PassAt } from "./schema/pass-at.ts";
import { SpotterError } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { type CallOptions, clientOf } from "./client.ts";
import type { Dataset } from "./dataset.ts";
import type { Endpoint } from "./endpoint.ts";
import { environmentsParam, toolsParam, type EnvironmentParams, type Tools } from "./environment-params.ts";
import { EvalRun } from "./eval-run.ts";
import { refusePython } from "./python-params.ts";
import { type Rewards, rewardsParam } from "./rewards-params.ts";

export interface EvalParams {
  /** The endpoint to ask, or its name. */
  endpoint: Endpoint | string;
  /** What to play. Not needed where there are environments. */
  dataset?: Dataset;
  /** Required, unless environments judge. */
  rewards?: Rewards;
  /** What the model may call before it answers; with `maxTurns` above 1. */
  tools?: Tools;
  /** Environments whose tasks are played and judged by them. */
  environments?: EnvironmentParams[];
  /** Run rewards and tools that are Python; see TrainConfig. Default false: refused. */
  allowPython?: boolean;
  /** Answers of a conversation with tools or an environment at most. Default 1. */
  maxTurns?: number;
  /** As in `recipes.grpo`, and so are the defaults. */
  terminationPolicy?: "last_tool" | "max_turns";
  maxToolTokens?: number;
  contextTokens?: number;
  includeThinking?: boolean;
  rolloutTimeoutMs?: number;
  /** Answers to each row. Default: the largest k of `passAt`, else 1. */
  samplesPerRow?: number;
  /**
   * Which pass@k to estimate: k, or k with the temperature of the answers that count for it. Each temperature has
   * `samplesPerRow` answers of its own.
   *
   * @example [1, 4, 8]
   * @example [{ k: 1, temperature: 0 }, { k: 8, temperature: 1 }]
   */
  passAt?: (number | PassAt)[];
  /** From which total on an answer is right, for pass@k. Default 1. */
  passThreshold?: number;
  /** Questions in flight at a time. Default 16. */
  concurrency?: number;
  /** Passed on to chat completions, for example `{ max_tokens: 64, temperature: 1 }`. */
  chatOptions?: Record<string, unknown>;
  name?: string;
  /** Same seed, same answers. Default 0. */
  seed?: number;
  /** Names of secrets the rewards may read. */
  secrets?: string[];
}

const { samplesPerRow, passThreshold, concurrency, chatOptions, name, seed } = evalSettings;
const { maxTurns, terminationPolicy, maxToolTokens, contextTokens, includeThinking, rolloutTimeoutMs } =
  evalRollout.shape;
const evalParams = z.strictObject({
  endpoint: z.union([z.string(), z.looseObject({ name: z.string() })], {
    error: "must be an Endpoint or its name",
  }),
  dataset: z.optional(
    z.custom<Dataset>(
      (value) => typeof (value as Dataset | undefined)?.load === "function",
      "must be a Dataset",
    ),
  ),
  rewards: z.optional(rewardsParam),
  tools: z.optional(toolsParam),
  environments: z.optional(environmentsParam),
  allowPython: z.optional(z.boolean()),
  maxTurns,
  terminationPolicy,
  maxToolTokens,
  contextTokens,
  includeThinking,
  rolloutTimeoutMs,
  samplesPerRow,
  passAt: z.optional(
    z.array(z.union([passAt.shape.k, passAt], { error: "must be a k, or { k, temperature }" })),
  ),
  passThreshold,
  concurrency,
  chatOptions,
  name,
  seed,
  secrets: z.optional(z.array(z.string())),
});

/**
 * Plays every row of a dataset with an endpoint and judges the conversations as a training would, in a container of
 * its own: the score stays when this process goes.
 *
 * @example
 * const result = await (await new Eval({ endpoint, dataset, rewards, samplesPerRow: 8 }).launch()).result();
 * console.log(result.mean, result.low, result.high, result.n);
 */
export class Eval {
  readonly params: Readonly<EvalParams>;

  /** @throws SpotterError `invalid_input` or `unknown_key`, listing everything that is wrong; `python_not_allowed`. */
  constructor(params: EvalParams) {
    parseWith(evalParams, params, "Eval");
    if (params.dataset === undefined && params.environments === undefined) throw missing("dataset");
    if (params.rewards === undefined && params.environments === undefined) throw missing("rewards");
    refusePython(params);
    this.params = { ...params };
  }

  /** Uploads what the server lacks and returns as soon as the evaluation is queued. */
  async launch(options: CallOptions = {}): Promise<EvalRun> {
    const client = clientOf(options);
    const { signal } = options;
    const [{ prepareEval }, { uploadDataset, uploadUserCode }] = await Promise.all([
      import("./prepare-eval.ts"),
      import("./upload.ts"),
    ]);
    const { spec: json, dataset, code } = await prepareEval(this.params, () => client, signal);
    try {
      const sent = code.map((each) => uploadUserCode(client, each, signal));
      await Promise.all([uploadDataset(client, dataset, signal), ...sent]);
    } finally {
      await dataset.close();
    }
    const request = { json, signal, idempotencyKey: crypto.randomUUID(), timeoutMs: 120_000 };
    return new EvalRun(client, await client.request(evalRecord, "POST", "/evals", request));
  }

  /** @throws SpotterError `not_found` */
  static get(id: string, options: CallOptions = {}): Promise<EvalRun> {
    return EvalRun.get(id, options);
  }

  /** Newest first. */
  static list(options: CallOptions & { limit?: number } = {}): Promise<EvalRun[]> {
    return EvalRun.list(options);
  }
}

function missing(what: "dataset" | "rewards"): SpotterError {
  return new SpotterError(
    "invalid_input",
    `Eval is not valid:\n  ${what}: missing; give ${what}, or environments`,
    {
      where: what,
      hint:
        what === "dataset"
          ? "Pass dataset: Dataset.fromFile(path), or environments: [{ file }]."
          : 'Pass rewards: new URL("./rewards.ts", import.meta.url).',
    },
  );
}
