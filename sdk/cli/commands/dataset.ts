import { resolve } from "node:path";
import type { Command } from "commander";
import { Client } from "../../client.ts";
import { Dataset, type DatasetParams } from "../../dataset.ts";
import { withoutUndefined } from "../../dataset-params.ts";
import type { Row } from "../../dataset-rows.ts";
import { HuggingFaceDataset } from "../../hugging-face-dataset.ts";
import { SpotterError } from "../../schema/errors.ts";
import { packDataset, uploadDataset } from "../../upload.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { integer } from "../numbers.ts";
import { table } from "../render/table.ts";
import { noun, verb } from "../verb.ts";

interface SourceOptions extends DatasetParams {
  config?: string;
  split?: string;
  revision?: string;
  columns?: string;
  refresh?: boolean;
  json?: boolean;
}

export function datasetCommand(context: CliContext): Command {
  return noun(
    "dataset",
    "Rows to train and evaluate on: files, or hf:owner/name",
    [inspect(context), push(context), convert(context)],
    [
      'spotter dataset inspect hf:statworx/haiku --split "train[:100]" --input-column keywords',
      "spotter dataset convert train.csv.gz train.parquet",
    ],
  );
}

/** Said of what rows are read from. */
const SOURCE = {
  source: "a .jsonl, .json, .csv, .tsv (each also .gz or .zst) or .parquet file, or hf:owner/name",
};

function inspect(context: CliContext): Command {
  return formatOptions(
    sourceOptions(
      verb(
        "inspect <source>",
        "Show rows, columns and token counts of a file or of hf:owner/name",
        [
          "spotter dataset inspect train.jsonl",
          'spotter dataset inspect hf:statworx/haiku --split "train[:100]" --input-column keywords',
        ],
        SOURCE,
      ),
    ),
  )
    .option("--model <model>", "whose tokenizer counts: a name, a folder or hf:owner/name", "spotter/nano")
    .option("--rows <count>", "rows to show", integer, 3)
    .action(async (source: string, options: SourceOptions & { model: string; rows: number }) => {
      const { signal } = context;
      const [{ tokenizerFolder }, { createTokenCounter }, { inspectDataset }] = await Promise.all([
        import("../../datasets/tokenizer-folder.ts"),
        import("../../datasets/token-counter.ts"),
        import("../../datasets/inspect-dataset.ts"),
      ]);
      const folder = await tokenizerFolder(options.model, () => Client.default(), signal);
      const dataset = datasetOf(source, options);
      const isBare = options.inputColumn === undefined && options.promptTemplate === undefined;
      if (isBare) showRowsWithoutPrompt(dataset);
      const found = await inspectDataset(dataset, await createTokenCounter(folder), options.rows);
      const pinned = dataset.source && { source: dataset.source };
      if (options.json) return printJson(context, { ...found, ...pinned, model: options.model });
      const { bold, dim } = context.colors;
      const commit = dataset.source ? ` at ${dataset.source.commit.slice(0, 7)}` : "";
      print(context, `${bold(String(found.rows))} row${found.rows === 1 ? "" : "s"}${commit}`);
      print(context);
      const columns = found.columns.map(({ name, types, missing }) => [
        name,
        types.join(" | ") || "null",
        missing,
      ]);
      for (const line of table(["COLUMN", "TYPE", "MISSING"], columns)) print(context, line);
      print(context);
      const { promptTokens, completionTokens } = found;
      const counts = [
        ["prompt", promptTokens.p50, promptTokens.p95, promptTokens.max],
        ...(completionTokens
          ? [["completion", completionTokens.p50, completionTokens.p95, completionTokens.max]]
          : []),
      ];
      for (const line of table([`TOKENS (${options.model})`, "P50", "P95", "MAX"], counts))
        print(context, line);
      if (isBare) print(context, dim("Without --input-column, a row without messages counts as its JSON."));
      for (const [index, row] of found.head.entries()) {
        print(context);
        print(context, bold(`Row ${index}`));
        for (const { role, content } of row.prompt) print(context, `${dim(`${role}:`)} ${textOf(content)}`);
        if (row.completion !== undefined) print(context, `${dim("completion:")} ${row.completion}`);
      }
    });
}

/** Who inspects a file for the first time does not know its columns yet: rows stand for themselves. */
function showRowsWithoutPrompt(dataset: Dataset): void {
  const format = dataset.format.bind(dataset);
  dataset.format = (row) =>
    row.messages === undefined && row.prompt === undefined
      ? { prompt: [{ role: "row", content: JSON.stringify(row) }] }
      : format(row);
}

function push(context: CliContext): Command {
  return formatOptions(
    sourceOptions(
      verb(
        "push <source>",
        "Upload the rows of a file or of hf:owner/name; scripts do so by themselves",
        "spotter dataset push train.parquet --input-column question",
        SOURCE,
      ),
    ),
  )
    .option("--name <name>", "for people; shown with runs")
    .action(async (source: string, options: SourceOptions) => {
      const packed = await packDataset(datasetOf(source, options));
      try {
        await uploadDataset(Client.default(), packed, context.signal);
      } finally {
        await packed.close();
      }
      if (options.json) return printJson(context, packed.ref);
      print(
        context,
        `${packed.ref.rows} row${packed.ref.rows === 1 ? " is" : "s are"} stored as ${packed.ref.sha256}.`,
      );
    });
}

function convert(context: CliContext): Command {
  return sourceOptions(
    verb(
      "convert <in> <out>",
      "Write the rows of a file or of hf:owner/name as .jsonl or .parquet, columns as they are",
      [
        "spotter dataset convert train.csv.gz train.parquet",
        "spotter dataset convert hf:statworx/haiku haiku.jsonl --columns keywords,text",
        "spotter dataset convert hf:openai/gsm8k train.jsonl --config main --to gsm8k",
      ],
      { in: SOURCE.source, out: "the new file: .jsonl or .parquet" },
    ),
  )
    .option(
      "--to <recipe>",
      "rows of a project folder instead: sft, alpaca, conversations, rl, gsm8k or math",
    )
    .option("--input-column <name>", "with --to: the column with the question")
    .option("--output-column <name>", "with --to: the column with the answer")
    .action(async (source: string, target: string, options: ConvertOptions) => {
      const { writeRows } = await import("../../datasets/index.ts");
      const path = resolve(target);
      const rows = await writeRows(path, await convertedRows(source, path, options), undefined);
      if (options.json) return printJson(context, { rows, path });
      print(context, `${rows} row${rows === 1 ? " is" : "s are"} in ${path}.`);
    });
}

interface ConvertOptions extends SourceOptions {
  to?: string;
}

/** The rows as they are, or as a recipe makes them. */
async function convertedRows(
  source: string,
  path: string,
  { to, inputColumn, outputColumn, ...options }: ConvertOptions,
): Promise<AsyncIterable<Row>> {
  if (to === undefined && inputColumn === undefined && outputColumn === undefined)
    return rowsOf(datasetOf(source, options));
  const { convertRows, checkConversion } =
    await import("../../config/project-folder/convert/convert-rows.ts");
  const params = { to, inputColumn, outputColumn };
  checkConversion(params, path);
  return convertRows(rowsOf(datasetOf(source, options)), params);
}

async function* rowsOf(dataset: Dataset): AsyncIterable<Row> {
  yield* dataset.rows();
}

function sourceOptions(command: Command): Command {
  return command
    .option("--config <name>", "configuration of a dataset on the hub")
    .option("--split <split>", "train, train[:10], train[10%:20%], train[10:15]+test (default: train)")
    .option("--revision <revision>", "branch, tag or commit on the hub")
    .option("--columns <names>", "columns to read, with commas between")
    .option("--refresh", "ask the hub again instead of reading the cache");
}

function formatOptions(command: Command): Command {
  return command
    .option("--input-column <name>", "column that fills {input}")
    .option("--output-column <name>", "column with the answer")
    .option("--prompt-template <text>", "the user's message")
    .option("--system-prompt <text>", "the system's message");
}

function datasetOf(source: string, options: SourceOptions): Dataset {
  const { inputColumn, outputColumn, promptTemplate, systemPrompt, name } = options;
  const { config, split, revision, refresh } = options;
  const columns = options.columns?.split(",").map((column) => column.trim());
  const params = withoutUndefined({ inputColumn, outputColumn, promptTemplate, systemPrompt, name, columns });
  if (source.startsWith("hf:")) {
    const hub = withoutUndefined({ config, split, revision, refresh });
    return new HuggingFaceDataset({ ...params, ...hub, repo: source.slice("hf:".length) });
  }
  const ofHub = Object.keys(withoutUndefined({ config, split, revision, refresh }));
  if (ofHub.length === 0) return Dataset.fromFile(source, params);
  throw new SpotterError(
    "invalid_input",
    `--${ofHub.join(", --")} is for datasets on the hub, not for files.`,
    {
      where: ofHub[0],
      hint: `Leave it out, or write hf:${source}.`,
    },
  );
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}
