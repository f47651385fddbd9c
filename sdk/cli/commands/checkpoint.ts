import { resolve } from "node:path";
import type { Command } from "commander";
import { Checkpoint } from "../../checkpoint.ts";
import { Client } from "../../client.ts";
import { weightsText } from "../../schema/checkpoint-weights.ts";
import { SpotterError } from "../../schema/errors.ts";
import { exportFormat, exportType } from "../../schema/export.ts";
import { type CliContext, print, printJson, printList } from "../context.ts";
import { runOrNewest } from "../newest.ts";
import { oneLine } from "../render/visible.ts";
import { ageText } from "../render/time.ts";
import { CHECKPOINT_ID, noun, RUN_ID, verb } from "../verb.ts";

export function checkpointCommand(context: CliContext): Command {
  return noun(
    "checkpoint",
    "Weights that runs have saved",
    [
      list(context),
      download(context),
      exportTo(context),
      convert(context),
      pin(context, true),
      pin(context, false),
      verify(context),
      remove(context),
    ],
    [
      "spotter checkpoint list",
      "spotter endpoint launch spotter/nano --checkpoint run-EXAMPLE@60",
      "spotter checkpoint export run-EXAMPLE@60 --format gguf --output ./out",
    ],
  );
}

function list(context: CliContext): Command {
  return verb(
    "list [run]",
    "List the checkpoints of a run, by step",
    ["spotter checkpoint list", "spotter checkpoint list run-EXAMPLE"],
    { run: `${RUN_ID} (default: the newest)` },
  ).action(async (id: string | undefined, options: { json?: boolean }) => {
    const { signal } = context;
    const run = await runOrNewest(id, signal);
    const records = (await run.checkpoints({ signal })).map(({ record }) => record);
    if (options.json) return printJson(context, records);
    const rows = records.map((record) => [
      record.id,
      record.kind,
      Number((record.files.reduce((sum, { size }) => sum + size, 0) / 2 ** 20).toFixed(1)),
      oneLine(weightsText(record) ?? "yes"),
      record.metrics?.["reward/mean"]?.toFixed(2) ?? "",
      record.pinned ? "yes" : "",
      ageText(record.createdAtMs, Date.now()),
      record.path,
    ]);
    const header = ["ID", "KIND", "MIB", "WEIGHTS", "REWARD", "PINNED", "SAVED", "PATH"];
    printList(
      context,
      header,
      rows,
      `No checkpoints of ${run.id} yet: it saves one every few steps and at its end.`,
    );
  });
}

function download(context: CliContext): Command {
  return verb(
    "download <id> [folder]",
    "Copy the weights and the trainer's state of a checkpoint into a folder",
    "spotter checkpoint download run-EXAMPLE@60 ./my-model",
    { id: CHECKPOINT_ID, folder: "where to (default: a new folder named after it)" },
  ).action(async (id: string, folder: string | undefined, options: { json?: boolean }) => {
    const { signal } = context;
    const checkpoint = await Checkpoint.get(id, { signal });
    const target = resolve(folder ?? id);
    await checkpoint.download(target, { signal });
    if (options.json) return printJson(context, { checkpoint: checkpoint.record, folder: target });
    print(context, `${id} is in ${target}.`);
  });
}

interface ExportOptions {
  format: string;
  output: string;
  type?: string;
  json?: boolean;
}

function exportTo(context: CliContext): Command {
  return verb(
    "export <id>",
    "Write a checkpoint for other tools: a Hugging Face folder, a GGUF file or a PEFT adapter",
    [
      "spotter checkpoint export run-EXAMPLE@60 --format hf --output ./my-model",
      "spotter checkpoint export run-EXAMPLE@60 --format gguf --type q8_0 --output ./my-model.gguf",
    ],
    { id: CHECKPOINT_ID },
  )
    .requiredOption(
      "--format <format>",
      "hf and gguf hold all weights, an adapter merged in; peft the adapter alone",
    )
    .requiredOption("--output <path>", "the folder to make, or the .gguf file")
    .option(
      "--type <type>",
      "f32, bf16 or f16; in GGUF files q8_0 as well (default: f32 for hf, f16 for gguf)",
    )
    .action(async (id: string, options: ExportOptions) => {
      const { signal } = context;
      const format = oneOf(exportFormat, options.format, "--format");
      const type = options.type === undefined ? {} : { type: oneOf(exportType, options.type, "--type") };
      const checkpoint = await Checkpoint.get(id, { signal });
      const done = await checkpoint.export({ format, output: options.output, ...type, signal });
      if (options.json) return printJson(context, { checkpoint: checkpoint.record, ...done });
      for (const warning of done.warnings) context.err.write(`warning: ${oneLine(warning)}\n`);
      print(context, `${id} is in ${done.path}.`);
    });
}

function oneOf<T extends string>(choice: { options: readonly T[] }, word: string, where: string): T {
  const found = choice.options.find((each) => each === word);
  if (found !== undefined) return found;
  throw new SpotterError("invalid_input", `There is no ${where} ${JSON.stringify(word)}.`, {
    where,
    hint: `Choose from ${choice.options.join(", ")}.`,
  });
}

function convert(context: CliContext): Command {
  return verb(
    "convert <id>",
    "Make the Hugging Face weights that a checkpoint of slime lacks, again where that has failed",
    "spotter checkpoint convert run-EXAMPLE@60",
    { id: CHECKPOINT_ID },
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    const { record } = await (await Checkpoint.get(id, { signal })).convert({ signal });
    if (options.json) return printJson(context, record);
    const text = weightsText(record);
    print(
      context,
      text === undefined
        ? `${id} has its weights.`
        : `${id}: ${text}. See \`spotter checkpoint list ${record.runId}\`.`,
    );
  });
}

function pin(context: CliContext, pinned: boolean): Command {
  const name = pinned ? "pin" : "unpin";
  const what = pinned ? "Keep a checkpoint, whatever is cleaned up" : "Let a pinned checkpoint go again";
  return verb(`${name} <id>`, what, `spotter checkpoint ${name} run-EXAMPLE@60`, {
    id: CHECKPOINT_ID,
  }).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    const { record } = await (await Checkpoint.get(id, { signal })).pin(pinned, { signal });
    if (options.json) return printJson(context, record);
    print(context, pinned ? `Pinned ${id}.` : `Unpinned ${id}.`);
  });
}

function verify(context: CliContext): Command {
  return verb(
    "verify <id>",
    "Read every file of a checkpoint and compare it with its hash",
    "spotter checkpoint verify run-EXAMPLE@60",
    { id: CHECKPOINT_ID },
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    const damage = await (await Checkpoint.get(id, { signal })).verify({ signal });
    if (damage !== undefined) {
      throw new SpotterError("blob_corrupt", `Checkpoint ${id} is damaged: ${damage}.`, {
        where: id,
        hint: "Use another checkpoint of the run, or restore a backup.",
      });
    }
    if (options.json) return printJson(context, { id, ok: true });
    print(context, `Every file of ${id} is as it was saved.`);
  });
}

function remove(context: CliContext): Command {
  return verb(
    "delete <id>",
    "Delete a checkpoint for good; refused while something uses it",
    "spotter checkpoint delete run-EXAMPLE@20",
    { id: CHECKPOINT_ID },
  ).action(async (id: string, options: { json?: boolean }) => {
    const { signal } = context;
    // By its id alone: a damaged one can be deleted, though it cannot be looked at.
    const path = `/checkpoints/${encodeURIComponent(id)}`;
    await Client.default().command("DELETE", path, { signal });
    if (options.json) return printJson(context, { deleted: id });
    print(context, `Deleted ${id}.`);
  });
}
