import { join } from "node:path";
import * as z from "zod/mini";
import { checkpoint, type Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { jobCheckpointUploads } from "../../sdk/schema/job.ts";
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
  const pending = [...z.parse(jobCheckpointUploads, announced).uploads];
  const upload = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift())
      await putFile(transport, next.url, join(dir, next.path));
  };
  await Promise.all(Array.from({ length: PARALLEL_UPLOADS }, upload));
  // Checking large files takes the control plane a while.
  const done = await transport.json(
    `${path}/checkpoints/${step}/complete`,
    { attempt },
    { timeoutMs: 300_000 },
  );
  return z.parse(checkpoint, done);
}
