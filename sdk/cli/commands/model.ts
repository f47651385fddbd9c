import type { Command } from "commander";
import { models } from "../../model.ts";
import { SpotterError } from "../../schema/errors.ts";
import type { ModelRecord } from "../../schema/model.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { oneLine } from "../render/visible.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";

interface PushOptions {
  name?: string;
  replace?: boolean;
  json?: boolean;
}

export function modelCommand(context: CliContext): Command {
  return noun(
    "model",
    "Weights that are stored once and served from there",
    [list(context), push(context), pull(context), remove(context)],
    ["spotter model pull hf:Qwen/Qwen3-0.6B", "spotter endpoint launch Qwen/Qwen3-0.6B"],
  );
}

function list(context: CliContext): Command {
  return verb("list", "List stored models by name", "spotter model list").action(
    async (options: { json?: boolean }) => {
      const records = await models.list({ signal: context.signal });
      if (options.json) return printJson(context, records);
      const rows = records.map((record) => [
        record.name,
        mebibytes(record),
        record.source
          ? `${record.source.repo}@${record.source.commit.slice(0, 7)}`
          : isGguf(record)
            ? "GGUF file"
            : "folder",
        ageText(record.createdAtMs, Date.now()),
        record.sha256.slice(0, 12),
      ]);
      const header = ["NAME", "MIB", "FROM", "STORED", "SHA256"];
      printList(context, header, rows, "No models yet. Store one: `spotter model pull hf:Qwen/Qwen3-0.6B`");
    },
  );
}

function push(context: CliContext): Command {
  return verb(
    "push <source>",
    "Store the weights of a folder, a GGUF file, or hf:owner/name[@revision], under a name",
    [
      "spotter model push ./my-model --name mine",
      "spotter model push ./small.gguf --name small",
      "spotter model push hf:Qwen/Qwen3-0.6B --name qwen",
    ],
    { source: "a folder with config.json, safetensors and tokenizer.json, a GGUF file, or hf:owner/name" },
  )
    .option("--name <name>", "what endpoints and trainings call it (default: the name on the hub)")
    .option("--replace", "let the name mean these weights from now on")
    .action((source: string, options: PushOptions) => store(context, source, options));
}

function pull(context: CliContext): Command {
  return verb(
    "pull <source>",
    "Download hf:owner/name[@revision] once and store it; HF_TOKEN opens gated ones",
    ["spotter model pull hf:Qwen/Qwen3-0.6B", "spotter model pull hf:Qwen/Qwen3-0.6B@main --replace"],
    { source: "hf:owner/name, with @ and a branch, tag or commit if it matters" },
  )
    .option("--name <name>", "what endpoints and trainings call it (default: the name on the hub)")
    .option("--replace", "let the name mean these weights from now on")
    .action((source: string, options: PushOptions) => {
      if (source.startsWith("hf:")) return store(context, source, options);
      throw new SpotterError("invalid_input", `${source} is not on the hub.`, {
        where: "source",
        hint: `Write hf:${source}, or store a folder with \`spotter model push\`.`,
      });
    });
}

function remove(context: CliContext): Command {
  return verb(
    "delete <name>",
    "Forget stored weights; endpoints and runs that use them go on",
    "spotter model delete mine",
  ).action(async (name: string, options: { json?: boolean }) => {
    const deleted = await models.delete(name, { signal: context.signal });
    if (options.json) return printJson(context, deleted);
    const what = `${oneLine(deleted.name)} is deleted`;
    if (deleted.keptFor === undefined) print(context, `${what}: ${mebibytes(deleted)} MiB are free.`);
    else print(context, `${what}; its weights stay, because ${oneLine(deleted.keptFor)}.`);
  });
}

async function store(context: CliContext, source: string, options: PushOptions): Promise<void> {
  const { json, ...params } = options;
  const record = await models.push(source, {
    ...params,
    signal: context.signal,
    onProgress({ what, path, bytes }) {
      const size = bytes === undefined ? "" : ` (${(bytes / 2 ** 20).toFixed(1)} MiB)`;
      if (!json) context.err.write(`${what} ${oneLine(path)}${size}\n`);
    },
  });
  if (json) return printJson(context, record);
  print(context, `${record.name} is stored: ${record.files.length} files, ${mebibytes(record)} MiB.`);
  print(context, `Try: ${context.command(`endpoint launch ${record.name}`)}`);
}

function isGguf({ files }: ModelRecord): boolean {
  return files.some(({ path }) => /\.gguf$/i.test(path));
}

function mebibytes(record: Pick<ModelRecord, "bytes">): number {
  return Number((record.bytes / 2 ** 20).toFixed(1));
}
