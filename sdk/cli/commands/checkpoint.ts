import { resolve } from "node:path";
import type { Command } from "commander";
import { Checkpoint } from "../../checkpoint.ts";
import { Run } from "../../run.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { table } from "../render/table.ts";
import { ageText } from "../render/time.ts";
import { noun, verb } from "../verb.ts";

export function checkpointCommand(context: CliContext): Command {
  return noun("checkpoint", "Weights that runs have saved", [list(context), download(context)]);
}

function list(context: CliContext): Command {
  return verb(
    "list <run>",
    "List the checkpoints of a run, by step",
    "spotter checkpoint list run-01jd",
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await Run.get(id, { signal });
    const records = (await run.checkpoints({ signal })).map(({ record }) => record);
    if (options.json) return printJson(context, records);
    const rows = records.map((record) => [
      record.id,
      record.kind,
      Number((record.files.reduce((sum, { size }) => sum + size, 0) / 2 ** 20).toFixed(1)),
      record.metrics?.["reward/mean"]?.toFixed(2) ?? "",
      ageText(record.createdAtMs, Date.now()),
      record.path,
    ]);
    const header = ["ID", "KIND", "MIB", "REWARD", "SAVED", "PATH"];
    for (const line of table(header, rows)) print(context, line);
  });
}

function download(context: CliContext): Command {
  return verb(
    "download <id> [folder]",
    "Copy a checkpoint into a folder (default: named after it)",
    "spotter checkpoint download run-01jd@60 ./my-model",
  ).action(async (id: string, folder: string | undefined, options: { json?: boolean }) => {
    const { signal } = context;
    const checkpoint = await Checkpoint.get(id, { signal });
    const target = resolve(folder ?? id);
    await checkpoint.download(target, { signal });
    if (options.json) return printJson(context, { checkpoint: checkpoint.record, folder: target });
    print(context, `${id} is in ${target}.`);
  });
}
