import { join } from "node:path";
import * as z from "zod/mini";
import { checkpoint, type Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { jobCheckpointUploads, type JobUpload, type JobUploadedParts } from "../../sdk/schema/job.ts";
import { listFiles, putFile } from "./files.ts";
import type { Transport } from "./transport.ts";

export interface CheckpointUpload {
  step: number;
  kind: Checkpoint["kind"];
  /** Folder whose files become the checkpoint. */
  dir: string;
  metrics?: Record<string, number>;
}

/** Uploads of one checkpoint that run side by side. */
const PARALLEL_UPLOADS = 4;

/** Announces the files below `dir`, uploads each, completes. `path` is the job's, `attempt` its attempt. */
export async function uploadCheckpoint(
  transport: Transport,
  path: string,
  attempt: number,
  { step, kind, dir, metrics }: CheckpointUpload,
): Promise<Checkpoint> {
  const files = await listFiles(dir);
  const announced = await transport.json(
    `${path}/checkpoints`,
    { attempt, step, kind, files, ...(metrics === undefined ? {} : { metrics }) },
    { timeoutMs: 60_000 },
  );
  const parts = await uploadAll(transport, dir, z.parse(jobCheckpointUploads, announced).uploads);
  // Checking large files takes the control plane a while.
  const done = await transport.json(
    `${path}/checkpoints/${step}/complete`,
    { attempt, ...(parts.length === 0 ? {} : { parts }) },
    { timeoutMs: 300_000 },
  );
  return z.parse(checkpoint, done);
}

/** Sends every file, or every part of it, a few side by side; tells what parts were answered with. */
async function uploadAll(
  transport: Transport,
  dir: string,
  uploads: readonly JobUpload[],
): Promise<JobUploadedParts[]> {
  const inParts: JobUploadedParts[] = [];
  const pending = uploads.flatMap(({ path, url, headers, parts }): (() => Promise<void>)[] => {
    const from = join(dir, path);
    if (parts === undefined) return [async () => void (await putFile(transport, url, from, { headers }))];
    const etags: string[] = [];
    inParts.push({ path, etags });
    return parts.urls.map((partUrl, index) => async () => {
      const start = index * parts.partBytes;
      etags[index] =
        (await putFile(transport, partUrl, from, { range: [start, start + parts.partBytes] })) ?? "";
    });
  });
  const work = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) await next();
  };
  await Promise.all(Array.from({ length: PARALLEL_UPLOADS }, work));
  return inParts;
}
