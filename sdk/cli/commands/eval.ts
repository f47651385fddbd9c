import { type Command, Option } from "commander";
import { Eval } from "../../eval.ts";
import type { EvalRecord, Interval } from "../../schema/eval.ts";
import { JsonlDataset } from "../../jsonl-dataset.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { evalOrNewest } from "../newest.ts";
import { integer } from "../numbers.ts";
import { pairs } from "../render/table.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";

export function evalCommand(context: CliContext): Command {
  return noun(
    "eval",
    "Scores of an endpoint over a dataset",
    [launch(context), list(context), get(context)],
    ["spotter eval launch nano held.jsonl --rewards rewards.ts --input-column keywords", "spotter eval get"],
  );
}

function launch(context: CliContext): Command {
  interface Options {
    rewards: string;
    inputColumn?: string;
    promptTemplate?: string;
    samples: number;
    maxTokens?: number;
    name?: string;
    json?: boolean;
  }
  return verb(
    "launch <endpoint> <rows.jsonl>",
    "Ask an endpoint every row, judge the answers, and wait for the scores",
    'spotter eval launch nano held.jsonl --rewards rewards.ts --input-column keywords --prompt-template "Write a haiku about {input}."',
  )
    .requiredOption("--rewards <file>", "TypeScript module that exports the rewards (required)")
    .option("--input-column <name>", "column that fills {input}")
    .option("--prompt-template <text>", "the question (default: the column as it is)")
    .addOption(new Option("--samples <n>", "answers to each row").argParser(integer).default(1))
    .addOption(new Option("--max-tokens <n>", "longest answer in tokens").argParser(integer))
    .option("--name <name>", "name for people")
    .action(async (endpoint: string, file: string, options: Options) => {
      const { signal } = context;
      const { inputColumn, promptTemplate, rewards, samples, maxTokens, name } = options;
      const run = await new Eval({
        endpoint,
        dataset: new JsonlDataset(file, { inputColumn, promptTemplate }),
        rewards,
        samplesPerRow: samples,
        chatOptions: maxTokens === undefined ? {} : { max_tokens: maxTokens },
        name,
      }).launch({ signal });
      await run.result({ signal });
      show(context, run.record, options.json);
    });
}

function list(context: CliContext): Command {
  return verb("list", "List evals, newest first", "spotter eval list --limit 5")
    .addOption(new Option("--limit <n>", "how many").argParser(integer).default(20))
    .action(async (options: { limit: number; json?: boolean }) => {
      const evals = await Eval.list({ limit: options.limit, signal: context.signal });
      const records = evals.map(({ record }) => record);
      if (options.json) return printJson(context, records);
      const rows = records.map((record) => [
        record.id,
        record.name ?? "",
        record.state,
        record.spec.endpoint,
        `${record.done}/${record.total}`,
        record.score ? intervalText(record.score) : "",
        ageText(record.createdAtMs, Date.now()),
      ]);
      const header = ["ID", "NAME", "STATE", "ENDPOINT", "DONE", "SCORE", "CREATED"];
      printList(context, header, rows, "No evals yet. Start one: see `spotter eval launch --help`");
    });
}

function get(context: CliContext): Command {
  const id = "its id, as `spotter eval list` prints it (default: the newest)";
  const examples = ["spotter eval get", "spotter eval get eval-01jd --json"];
  return verb("get [id]", "Show an eval and its scores", examples, { id }).action(
    async (named: string | undefined, options: { json?: boolean }) => {
      show(context, (await evalOrNewest(named, context.signal)).record, options.json);
    },
  );
}

function show(context: CliContext, record: EvalRecord, isJson: boolean | undefined): void {
  if (isJson) return printJson(context, record);
  const lines = pairs({
    id: record.id,
    name: record.name,
    state: record.state,
    endpoint: record.spec.endpoint,
    done: `${record.done}/${record.total}`,
    missing: record.missing,
    score: record.score && intervalText(record.score),
    ...Object.fromEntries(
      Object.entries(record.scores).map(([name, score]) => [`  ${name}`, intervalText(score)]),
    ),
    failure: record.failure?.message,
  });
  for (const line of lines) print(context, line);
}

function intervalText({ mean, low, high, n }: Interval): string {
  return `${mean.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] n=${n}`;
}
