import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Client } from "../client.ts";
import { downloadFile } from "../download.ts";
import { isAlive } from "../local/is-alive.ts";
import { makeFolder } from "../schema/files/make-folder.ts";
import { refuseWithoutWeights } from "../schema/refuse-without-weights.ts";
import type { Checkpoint, CheckpointFile } from "../schema/checkpoint.ts";
import { SpotterError } from "../schema/errors.ts";
import type { Exported, ExportFormat, ExportType } from "../schema/export.ts";
import { modelSource } from "./model-source.ts";
import { refuseOwn } from "./refuse-own.ts";
import { runExporter } from "./run-exporter.ts";

/** Time for one file. */
const DOWNLOAD_MS = 3_600_000;
/** Files of a checkpoint that are the model, and those that are an adapter, begin with these. */
const MODEL = "model/";
const ADAPTER = "model/adapter_";

export interface ExportCheckpointParams {
  format: ExportFormat;
  output: string;
  type: ExportType | undefined;
  signal: AbortSignal | undefined;
}

/** Copies the files of a checkpoint into a folder. */
export async function downloadCheckpoint(
  client: Client,
  checkpoint: Checkpoint,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await refuseOwn(folder, "folder");
  await download(client, checkpoint, { folder, prefix: "", signal });
}

/** Writes a checkpoint as a Hugging Face folder, a GGUF file or a PEFT folder. */
export async function exportCheckpoint(
  client: Client,
  checkpoint: Checkpoint,
  { format, output, type, signal }: ExportCheckpointParams,
): Promise<Exported> {
  refuseWithoutWeights(checkpoint, "checkpoint");
  const place = placeOf(checkpoint, format, resolve(output), type);
  await refuseOwn(place, "output");
  await mustBeFree(place);
  await makeFolder(dirname(place)).catch((error: unknown) => {
    throw cannotWrite(place, error);
  });
  if (format === "peft") return exportAdapter(client, checkpoint, place, signal);
  const work = await workFolder(place).catch((error: unknown) => {
    throw cannotWrite(place, error);
  });
  try {
    await download(client, checkpoint, { folder: work, prefix: MODEL, signal });
    const weights = join(work, MODEL);
    const isFull = checkpoint.kind === "full";
    const model = isFull ? weights : await modelSource(client, checkpoint.model, join(work, "base"), signal);
    return await runExporter(
      {
        model,
        ...(isFull ? {} : { adapterDir: weights }),
        format,
        type: type ?? (format === "hf" ? "f32" : "f16"),
        output: place,
        name: `${basename(checkpoint.model.name)} ${checkpoint.id}`,
      },
      signal,
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Beside what is written, where there is room for it; its name says whose it is. What a killed export has left of the
 * same place goes.
 */
async function workFolder(place: string): Promise<string> {
  const folder = dirname(place);
  const name = `.${basename(place)}.export-`;
  for (const each of await readdir(folder)) {
    const pid = each.startsWith(name) ? Number.parseInt(each.slice(name.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !isAlive(pid)) await rm(join(folder, each), { recursive: true, force: true });
  }
  return mkdtemp(join(folder, `${name}${process.pid}-`));
}

/** A GGUF file gets a name in the folder it was asked for, unless that is one. */
function placeOf(
  { runId, step }: Checkpoint,
  format: ExportFormat,
  output: string,
  type: ExportType = "f16",
): string {
  if (format !== "gguf" || /\.gguf$/i.test(output)) return output;
  return join(output, `${runId}-${step}-${type}.gguf`);
}

/** Asked before anything is fetched. */
async function mustBeFree(place: string): Promise<void> {
  const found = await lstat(place).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cannotWrite(place, error);
  });
  if (found === undefined) return;
  throw new SpotterError("conflict", `${place} is there already.`, {
    where: "output",
    hint: "Choose another place, or remove it first.",
  });
}

function cannotWrite(place: string, error: unknown): SpotterError {
  const why = error instanceof Error ? error.message : String(error);
  return new SpotterError("invalid_input", `Cannot write ${place}: ${why}.`, {
    where: "output",
    hint: "Choose a place in a folder that can be written to.",
    cause: error,
  });
}

async function exportAdapter(
  client: Client,
  checkpoint: Checkpoint,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Exported> {
  if (checkpoint.kind !== "lora") {
    throw new SpotterError(
      "invalid_input",
      `Checkpoint ${checkpoint.id} holds full weights, and no adapter.`,
      {
        where: "format",
        hint: "Export it as hf or gguf.",
      },
    );
  }
  await makeFolder(folder);
  await download(client, checkpoint, { folder, prefix: ADAPTER, strip: MODEL, signal });
  return { path: folder, warnings: [] };
}

async function download(
  client: Client,
  { id, files }: Checkpoint,
  options: { folder: string; prefix: string; strip?: string; signal: AbortSignal | undefined },
): Promise<void> {
  const { folder, prefix, strip = "", signal } = options;
  for (const file of files.filter(({ path }) => path.startsWith(prefix))) {
    const path = `/checkpoints/${encodeURIComponent(id)}/files/${file.path}`;
    const target: CheckpointFile = { ...file, path: file.path.slice(strip.length) };
    const request = { signal, timeoutMs: DOWNLOAD_MS };
    await downloadFile(folder, target, (read) => client.receive("GET", path, request, read));
  }
}
