import { SpotterError } from "../../sdk/schema/errors.ts";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import type { EvalJob } from "../../sdk/schema/job.ts";
import type { JobClient } from "../agent.ts";
import type { RowToolCalls } from "../training/python-judge.ts";
import { createPromptCodec, type PromptCodec } from "../training/text.ts";
import { createChatPlay } from "./chat-play.ts";
import { createEnginePlay, samplingOf, templateVariables } from "./engine-play.ts";
import { ownWeights } from "./own-weights.ts";
import type { Play } from "./played.ts";
import type { EvalParts } from "./run.ts";

export interface OpenPlayerParams {
  job: EvalJob;
  client: Pick<JobClient, "chat" | "download" | "callEnvironments"> & { callTools: RowToolCalls };
  signal: AbortSignal;
  workDir: string;
  rows: readonly DatasetRow[];
  parts: EvalParts;
}

/** Who answers: an endpoint, or the engine of this container. */
export interface Player extends AsyncDisposable {
  name: string;
  play: Play;
}

/** Sequences decoded side by side; more gains nothing on a few cores. */
const MAX_SLOTS = 32;

export async function openPlayer(params: OpenPlayerParams): Promise<Player> {
  const { job, client, signal } = params;
  if (job.weights !== undefined) return withWeights(params, job.weights);
  const { chatUrl: url, model } = job;
  if (url === undefined || model === undefined)
    throw new SpotterError("internal", "The job names neither an endpoint nor weights.");
  const play = createChatPlay({ job, chat: { url, model }, client, signal });
  return { name: model, play, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function withWeights(
  { job, client, signal, workDir, rows, parts }: OpenPlayerParams,
  weights: NonNullable<EvalJob["weights"]>,
): Promise<Player> {
  const folders = await ownWeights(weights, client, workDir);
  const text = await parts.loadTextModel(folders.modelDir);
  const codec = createPromptCodec(text, templateVariables(job), job.tools);
  const engine = await parts.startEngine({
    ...folders,
    threads: job.threads,
    slots: Math.min(MAX_SLOTS, job.spec.concurrency),
    maxPositions: longest(job, codec, rows),
  });
  const play = createEnginePlay({ job, engine, codec, client, signal });
  return { name: weights.checkpoint.id, play, [Symbol.asyncDispose]: () => engine.close() };
}

/** The engine sets memory aside for no more tokens than a conversation can have. */
function longest(job: EvalJob, codec: PromptCodec, rows: readonly DatasetRow[]): number {
  const { rollout } = job.spec;
  const most = Math.min(rollout.contextTokens ?? Infinity, codec.contextLength);
  if (rollout.maxTurns > 1 || rows.some(({ environment }) => environment !== undefined)) return most;
  const { maxTokens } = samplingOf(job, undefined, codec.contextLength);
  const prompts = rows.map((row) => promptLength(row, codec));
  return Math.min(most, prompts.reduce((a, b) => Math.max(a, b), 1) + maxTokens);
}

/** A row that is too long has an error of its own when it is played. */
function promptLength(row: DatasetRow, codec: PromptCodec): number {
  try {
    return codec.promptIds(row).length;
  } catch {
    return 1;
  }
}
