import { type Command, Option } from "commander";
import { Eval } from "../../eval.ts";
import type { PassAt } from "../../schema/pass-at.ts";
import { JsonlDataset } from "../../jsonl-dataset.ts";
import { type CliContext, printJson, printList } from "../context.ts";
import { evalOrNewest } from "../newest.ts";
import { integer, number } from "../numbers.ts";
import { intervalText, showComparison, showEval } from "../render/eval.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";
import { passes, withProjectEval } from "./project-eval.ts";

export function evalCommand(context: CliContext): Command {
  const command = noun(
    "eval",
    "Scores of an endpoint over a dataset, or over the rows of a project folder",
    [launch(context), list(context), get(context), compare(context)],
    ["spotter eval launch nano held.jsonl --rewards rewards.ts --input-column keywords", "spotter eval get"],
  );
  return withProjectEval(command, context);
}

function launch(context: CliContext): Command {
  interface Options {
    rewards: string;
    inputColumn?: string;
    promptTemplate?: string;
    samples?: number;
    pass?: PassAt[];
    threshold: number;
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
    .addOption(
      new Option("--samples <n>", "answers to each row (default: the largest k, else 1)").argParser(integer),
    )
    .option("--pass <k>", "pass@k, and at which temperature: 1@0,4,8", passes)
    .option("--threshold <reward>", "from which total on an answer is right, for pass@k", number, 1)
    .addOption(new Option("--max-tokens <n>", "longest answer in tokens").argParser(integer))
    .option("--name <name>", "name for people")
    .action(async (endpoint: string, file: string, options: Options) => {
      const { signal } = context;
      const { inputColumn, promptTemplate, rewards, samples, pass, threshold, maxTokens, name } = options;
      const run = await new Eval({
        endpoint,
        dataset: new JsonlDataset(file, { inputColumn, promptTemplate }),
        rewards,
        ...(samples !== undefined && { samplesPerRow: samples }),
        ...(pass && { passAt: pass }),
        passThreshold: threshold,
        chatOptions: maxTokens === undefined ? {} : { max_tokens: maxTokens },
        name,
      }).launch({ signal });
      await run.result({ signal });
      showEval(context, run.record, options.json);
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
  const examples = ["spotter eval get", "spotter eval get eval-EXAMPLE --json"];
  return verb("get [id]", "Show an eval and its scores", examples, { id }).action(
    async (named: string | undefined, options: { json?: boolean }) => {
      showEval(context, (await evalOrNewest(named, context.signal)).record, options.json);
    },
  );
}

function compare(context: CliContext): Command {
  const id = "ids, as `spotter eval list` prints them";
  return verb(
    "compare <first> <second>",
    "How much better the second is on the rows that both judged, with a paired interval",
    "spotter eval compare eval-EXAMPLE eval-OTHER",
    { first: id, second: id },
  ).action(async (first: string, second: string, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await Eval.get(first, { signal });
    showComparison(context, await run.compare(second, { signal }), options.json);
  });
}
