import * as z from "zod/mini";
import { evalRecord, launchEval, type LaunchEvalInput } from "./schema/eval.ts";
import type { DatasetRow } from "./schema/dataset.ts";
import { SpotterError } from "./schema/errors.ts";
import { parseWith } from "./schema/parse.ts";
import { type CallOptions, clientOf } from "./client.ts";
import type { Dataset } from "./dataset.ts";
import { type Endpoint, endpointNameOf } from "./endpoint.ts";
import { EvalRun } from "./eval-run.ts";
import { type Rewards, rewardsFile, rewardsParam, rewardsSetup } from "./rewards-params.ts";

export interface EvalParams {
  /** The endpoint to ask, or its name. */
  endpoint: Endpoint | string;
  dataset: Dataset;
  rewards: Rewards;
  /** Default 1. */
  samplesPerRow?: number;
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

const { samplesPerRow, concurrency, chatOptions, name, seed } = launchEval.shape;
const evalParams = z.strictObject({
  endpoint: z.union([z.string(), z.looseObject({ name: z.string() })], {
    error: "must be an Endpoint or its name",
  }),
  dataset: z.custom<Dataset>(
    (value) => typeof (value as Dataset | undefined)?.load === "function",
    "must be a Dataset",
  ),
  rewards: rewardsParam,
  samplesPerRow,
  concurrency,
  chatOptions,
  name,
  seed,
  secrets: z.optional(z.array(z.string())),
});

/**
 * Asks an endpoint every row of a dataset and judges the answers, in a container of its own: the score stays
 * when this process goes.
 *
 * @example
 * const result = await (await new Eval({ endpoint, dataset, rewards, samplesPerRow: 8 }).launch()).result();
 * console.log(result.mean, result.low, result.high, result.n);
 */
export class Eval {
  readonly params: Readonly<EvalParams>;

  /** @throws SpotterError `invalid_input` or `unknown_key`, listing everything that is wrong. */
  constructor(params: EvalParams) {
    parseWith(evalParams, params, "Eval");
    this.params = { ...params };
  }

  /** Uploads what the server lacks and returns as soon as the evaluation is queued. */
  async launch(options: CallOptions = {}): Promise<EvalRun> {
    const client = clientOf(options);
    const { signal } = options;
    const { endpoint, dataset, rewards, secrets = [], ...rest } = this.params;
    const { packDataset, packUserCode, uploadDataset, uploadUserCode } = await import("./upload.ts");
    const code = await packUserCode(rewardsFile(rewards));
    const packed = await packDataset(dataset, needsTemplate);
    try {
      await Promise.all([uploadDataset(client, packed, signal), uploadUserCode(client, code, signal)]);
    } finally {
      await packed.close();
    }
    const json: LaunchEvalInput = {
      ...rest,
      endpoint: endpointNameOf(endpoint),
      dataset: packed.ref,
      rewards: rewardsSetup(rewards, code, secrets),
    };
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

function needsTemplate(row: DatasetRow): void {
  if (row.chatTemplate !== false) return;
  throw new SpotterError(
    "dataset_invalid",
    "An eval asks through chat, and this dataset wants no chat template.",
    {
      where: "dataset",
      hint: "Leave applyChatTemplate out for the dataset of an Eval; evalDataset of a TrainConfig takes both.",
    },
  );
}
