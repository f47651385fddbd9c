import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Dataset } from "../../dataset.ts";
import { Endpoint } from "../../endpoint.ts";
import type { ChatMessage } from "../../chat.ts";
import type { DatasetRow } from "../../schema/dataset.ts";
import type { DevRow } from "../../schema/dev.ts";
import { SpotterError } from "../../schema/errors.ts";

export interface DevRowsOptions {
  dataset?: string;
  rows: number;
  answerColumn?: string;
  endpoint?: string;
  maxTokens?: number;
  inputColumn?: string;
  promptTemplate?: string;
}

/** Columns that usually hold an answer, the likeliest first. */
const ANSWER_COLUMNS = ["completion", "response", "output", "answer", "text"];
const DATASET_FILE = /\.(jsonl|json|csv|tsv|parquet)(\.gz|\.zst)?$/;

/** The first rows of the folder's dataset, each with an answer to judge. */
export async function devRows(
  folder: string,
  options: DevRowsOptions,
  signal: AbortSignal,
): Promise<DevRow[]> {
  const file = datasetFile(folder, options.dataset);
  const { inputColumn, promptTemplate } = options;
  const dataset = Dataset.fromFile(file, { inputColumn, promptTemplate }).slice(0, options.rows);
  const rows: DatasetRow[] = [];
  for await (const row of dataset.rows())
    rows.push({ prompt: promptOf(dataset, row, options.endpoint), row });
  if (rows.length === 0) throw new SpotterError("dataset_empty", `${file} has no rows.`, { where: file });
  if (options.endpoint !== undefined) return asked(rows, options, signal);
  return rows.map((row) => ({ row, answer: answerOf(row.row, file, options.answerColumn) }));
}

function datasetFile(folder: string, given: string | undefined): string {
  if (given !== undefined) return resolve(given);
  const found = readdirSync(folder).filter(
    (name) => DATASET_FILE.test(name) && !/^(package|tsconfig)/.test(name),
  );
  const best = found.find((name) => name.startsWith("train.")) ?? found.sort()[0];
  if (best !== undefined) return join(folder, best);
  throw new SpotterError("dataset_invalid", `There is no dataset in ${folder}.`, {
    where: folder,
    hint: "Name a file of rows: spotter dev --dataset rows.jsonl",
  });
}

/** Rewards may be judged without a prompt; an endpoint cannot answer without one. */
function promptOf(
  dataset: Dataset,
  row: Record<string, unknown>,
  endpoint: string | undefined,
): DatasetRow["prompt"] {
  try {
    return dataset.format(row).prompt;
  } catch (cause) {
    if (endpoint === undefined) return [];
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new SpotterError("dataset_invalid", `A row makes no prompt: ${message}.`, {
      hint: "Add --input-column NAME, or --prompt-template TEXT.",
      cause,
    });
  }
}

function answerOf(row: Record<string, unknown>, file: string, column: string | undefined): string {
  const name = column ?? ANSWER_COLUMNS.find((each) => typeof row[each] === "string");
  const value = name === undefined ? undefined : row[name];
  if (typeof value === "string") return value;
  const what = column === undefined ? "no column with an answer" : `no text in the column ${column}`;
  throw new SpotterError("dataset_invalid", `${file} has ${what}; it has ${Object.keys(row).join(", ")}.`, {
    where: file,
    hint: "Name it with --answer-column, or let a model answer: --endpoint NAME.",
  });
}

/** Asked once, when it starts: a save changes the rewards, not the answers. */
async function asked(rows: DatasetRow[], options: DevRowsOptions, signal: AbortSignal): Promise<DevRow[]> {
  const endpoint = await Endpoint.get(options.endpoint ?? "", { signal });
  const chatOptions = options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens };
  return Promise.all(
    rows.map(async (row) => {
      const reply = await endpoint.chat(row.prompt as ChatMessage[], { ...chatOptions, signal });
      return { row, answer: reply.content ?? "" };
    }),
  );
}

/** The file of rewards: the one given, else the usual names. */
export function rewardsFile(folder: string, given: string | undefined): string {
  if (given !== undefined) return resolve(given);
  const found = ["rewards.ts", "rewards.js", "rewards.mjs"]
    .map((name) => join(folder, name))
    .find(existsSync);
  if (found !== undefined) return found;
  throw new SpotterError("reward_missing", `There is no rewards.ts in ${folder}.`, {
    where: folder,
    hint: "Create it, or name the file with --rewards.",
  });
}
