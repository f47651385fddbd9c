import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpoint, JobFile } from "../../sdk/schema/job.ts";
import { checkpointId } from "../../sdk/schema/model.ts";
import type { Control } from "../control.ts";
import {
  checkpointConversionId,
  conversionsOf,
  findConversion,
  type ConversionDocument,
} from "../conversions/records.ts";
import type { DocumentKey } from "../ports/store.ts";
import { stepKey } from "../records/step-key.ts";
import { collect } from "../records/update.ts";

/** A checkpoint as stored. */
export interface StoredCheckpoint extends Checkpoint {
  /** What is wrong with its files, once that was found. */
  damage?: string;
}

export function checkpointKey(runId: string, step: number): DocumentKey {
  return { partition: `checkpoints/${runId}`, sort: stepKey(step) };
}

/** Where a checkpoint's files lie. The attempt is part of it: nothing of a lost attempt is ever reused. */
export function checkpointPrefix(runId: string, step: number, attempt: number): string {
  return `runs/${runId}/checkpoints/${step}-a${attempt}`;
}

export async function getCheckpoint(control: Control, id: string): Promise<StoredCheckpoint> {
  if (!checkpointId.safeParse(id).success) {
    throw new SpotterError("checkpoint_not_found", `"${id.slice(0, 200)}" names no checkpoint.`, {
      where: "checkpoint",
      hint: "A checkpoint is written run@step; `spotter checkpoint list RUN` shows those of a run.",
    });
  }
  const runId = id.slice(0, id.lastIndexOf("@"));
  const found = await findStoredCheckpoint(control, id);
  if (found?.damage !== undefined) {
    throw new SpotterError("blob_corrupt", `Checkpoint ${id} is damaged: ${found.damage}.`, {
      where: id,
      hint: `Use another one: \`spotter run get ${runId}\` lists them.`,
    });
  }
  if (found !== undefined) return shown(control, found);
  const known = await listCheckpoints(control, runId);
  const names = known.map((checkpoint) => checkpoint.id).slice(-5);
  throw new SpotterError("checkpoint_not_found", `There is no checkpoint ${id}.`, {
    where: "checkpoint",
    hint:
      names.length > 0 ? `This run has ${names.join(", ")}.` : `Run "${runId}" has no complete checkpoint.`,
  });
}

/** Complete checkpoints of a run, oldest first, without those that are known to be damaged. */
export async function listCheckpoints(control: Control, runId: string): Promise<Checkpoint[]> {
  const all = await storedCheckpoints(control, runId);
  const sound = all.filter(({ damage }) => damage === undefined);
  const conversions = sound.every(hasWeights) ? [] : await conversionsOf(control, runId);
  return sound.map((checkpoint) => {
    const found = conversions.find(({ step }) => step === checkpoint.step);
    return { ...here(control, checkpoint), ...conversionOf(checkpoint, found) };
  });
}

/** Complete checkpoints of a run, oldest first, damaged ones too. */
export function storedCheckpoints(control: Control, runId: string): Promise<StoredCheckpoint[]> {
  return collect<StoredCheckpoint>((after) =>
    control.store.query<StoredCheckpoint>(`checkpoints/${runId}`, after === undefined ? {} : { after }),
  );
}

/** A sound checkpoint, or undefined: also for what cannot be the name of one. */
export async function findCheckpoint(control: Control, id: string): Promise<StoredCheckpoint | undefined> {
  const found = checkpointId.safeParse(id).success ? await findStoredCheckpoint(control, id) : undefined;
  return found === undefined || found.damage !== undefined ? undefined : shown(control, found);
}

export async function findStoredCheckpoint(
  control: Control,
  id: string,
): Promise<StoredCheckpoint | undefined> {
  const at = id.lastIndexOf("@");
  const key = checkpointKey(id.slice(0, at), Number(id.slice(at + 1)));
  return (await control.store.get<StoredCheckpoint>(key))?.value;
}

async function shown(control: Control, checkpoint: StoredCheckpoint): Promise<StoredCheckpoint> {
  const { runId, step } = checkpoint;
  const found = hasWeights(checkpoint)
    ? undefined
    : await findConversion(control, checkpointConversionId(runId, step));
  return { ...here(control, checkpoint), ...conversionOf(checkpoint, found) };
}

/** How the weights stand of a checkpoint that has none. */
function conversionOf(
  checkpoint: Checkpoint,
  found: ConversionDocument | undefined,
): Pick<Checkpoint, "conversion"> {
  if (found === undefined || hasWeights(checkpoint)) return {};
  const { state, failure } = found;
  return { conversion: { state, ...(failure && { failure }) } };
}

/** The state folder may have moved since it was written down. */
function here(control: Control, checkpoint: StoredCheckpoint): StoredCheckpoint {
  const { runId, step, attempt } = checkpoint;
  return { ...checkpoint, path: control.blobs.location(checkpointPrefix(runId, step, attempt)) };
}

/** A checkpoint as a container fetches it. Only what is asked for: servers need no optimizer state. */
export function jobCheckpoint(
  control: Control,
  jobId: string,
  checkpoint: Checkpoint,
  parts: readonly ("model" | "trainer")[],
): JobCheckpoint {
  const prefix = checkpointPrefix(checkpoint.runId, checkpoint.step, checkpoint.attempt);
  const wanted = checkpoint.files.filter((file) => parts.some((part) => file.path.startsWith(`${part}/`)));
  return {
    id: checkpoint.id,
    kind: checkpoint.kind,
    step: checkpoint.step,
    model: checkpoint.model,
    files: wanted.map((file) => ({
      ...jobFile(control, jobId, `${prefix}/${file.path}`, file),
      path: file.path,
    })),
  };
}

/** A blob that one job may read, by URL. */
export function jobFile(
  control: Control,
  jobId: string,
  key: string,
  file: { size: number; sha256: string },
): JobFile {
  const url = `${control.config.publicUrl()}/jobs/${encodeURIComponent(jobId)}/files/${encodeURI(key)}`;
  return { path: key, url, size: file.size, sha256: file.sha256 };
}
