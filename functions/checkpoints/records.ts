import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpoint, JobFile } from "../../sdk/schema/job.ts";
import type { Control } from "../control.ts";
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

export async function getCheckpoint(control: Control, id: string): Promise<Checkpoint> {
  const at = id.lastIndexOf("@");
  const runId = id.slice(0, at);
  const found = await control.store.get<StoredCheckpoint>(checkpointKey(runId, Number(id.slice(at + 1))));
  if (found?.value.damage !== undefined) {
    throw new SpotterError("blob_corrupt", `Checkpoint ${id} is damaged: ${found.value.damage}.`, {
      where: id,
      hint: `Use another one: \`spotter run get ${runId}\` lists them.`,
    });
  }
  if (found !== undefined) return found.value;
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
  const all = await collect<StoredCheckpoint>((after) =>
    control.store.query<StoredCheckpoint>(`checkpoints/${runId}`, after === undefined ? {} : { after }),
  );
  return all.filter(({ damage }) => damage === undefined);
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
