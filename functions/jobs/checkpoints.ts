import type { Checkpoint, CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpointBegin, JobUpload, JobUploadedParts } from "../../sdk/schema/job.ts";
import { checkpointKey, checkpointPrefix, type StoredCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { beginRunEvals } from "../evals/run-evals.ts";
import { getRunSpec, runStream, type StreamedEvent } from "../runs/records.ts";
import { stepKey } from "../records/step-key.ts";
import { abandonUploads, type BegunUploads, completeUploads, planUploads } from "./checkpoint-uploads.ts";
import { liveJob } from "./records.ts";

interface Announced extends JobCheckpointBegin {
  begun?: BegunUploads;
}

/** Takes note of the files that will come and says where each goes. Announcing again replaces the note. */
export async function beginCheckpoint(
  control: Control,
  jobId: string,
  begin: JobCheckpointBegin,
): Promise<{ uploads: JobUpload[] }> {
  const job = await trainJob(control, jobId, begin.attempt);
  if (!begin.files.some((file) => file.path.startsWith("model/"))) {
    throw new SpotterError("invalid_input", "A checkpoint needs at least one file below model/.", {
      where: "files",
    });
  }
  const prefix = checkpointPrefix(job.owner, begin.step, job.attempt);
  const base = `${control.config.publicUrl()}/jobs/${encodeURIComponent(jobId)}/uploads/${begin.step}`;
  const before = await control.store.get<Announced>(uploadKey(jobId, begin.step));
  const { uploads, begun } = await planUploads(control.blobs, prefix, base, begin.files);
  await control.store.put(uploadKey(jobId, begin.step), { ...begin, v: 1, begun });
  await abandonUploads(control.blobs, prefix, before?.value.begun ?? {});
  return { uploads };
}

/** Stores one announced file; a body that hashes otherwise is refused and not kept. */
export async function uploadFile(
  control: Control,
  jobId: string,
  step: number,
  path: string,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const begin = await announced(control, jobId, step);
  const job = await trainJob(control, jobId, begin.attempt);
  const file = begin.files.find((each) => each.path === path);
  if (file === undefined) {
    throw new SpotterError("not_found", `Checkpoint ${step} did not announce a file ${path}.`, {
      where: path,
    });
  }
  const key = `${checkpointPrefix(job.owner, step, job.attempt)}/${path}`;
  await control.blobs.put(key, body, { sha256: file.sha256 });
}

/** Publishes a checkpoint whose files are all there. From here on it exists, and not before. */
export async function completeCheckpoint(
  control: Control,
  jobId: string,
  step: number,
  attempt: number,
  parts: readonly JobUploadedParts[] = [],
): Promise<Checkpoint> {
  const job = await trainJob(control, jobId, attempt);
  const key = checkpointKey(job.owner, step);
  const found = await control.store.get<StoredCheckpoint>(key);
  const existing = found?.value.damage === undefined ? found?.value : undefined;
  const checkpoint = existing ?? (await newCheckpoint(control, jobId, step, parts));
  if (existing === undefined) await publish(control, key, checkpoint, found?.version ?? 0);
  const event: StreamedEvent = {
    atMs: checkpoint.createdAtMs,
    body: { type: "checkpoint", step, id: checkpoint.id },
  };
  await control.store.append(runStream(job.owner), [event], {
    batchId: `checkpoint-${step}-a${checkpoint.attempt}`,
  });
  // A crash before this leaves the container without an answer: it completes the checkpoint again.
  await beginRunEvals(control, job.owner, step, await getRunSpec(control, job.owner));
  control.routes.setLatestCheckpoint(job.owner, checkpoint.id);
  control.bus.notify(runStream(job.owner));
  return checkpoint;
}

async function newCheckpoint(
  control: Control,
  jobId: string,
  step: number,
  parts: readonly JobUploadedParts[],
): Promise<Checkpoint> {
  const begin = await announced(control, jobId, step);
  const job = await trainJob(control, jobId, begin.attempt);
  const prefix = checkpointPrefix(job.owner, step, job.attempt);
  await completeUploads(control.blobs, prefix, begin.begun ?? {}, parts);
  await checkFiles(control, prefix, begin.files);
  const spec = await getRunSpec(control, job.owner);
  return {
    v: 1,
    id: `${job.owner}@${step}`,
    runId: job.owner,
    step,
    attempt: job.attempt,
    kind: begin.kind,
    model: spec.model,
    files: begin.files,
    createdAtMs: control.clock.now(),
    path: control.blobs.location(prefix),
    ...(begin.metrics && { metrics: begin.metrics }),
  };
}

async function publish(
  control: Control,
  key: DocumentKey,
  checkpoint: Checkpoint,
  ifVersion: number,
): Promise<void> {
  const prefix = checkpointPrefix(checkpoint.runId, checkpoint.step, checkpoint.attempt);
  const manifest = new TextEncoder().encode(`${JSON.stringify(checkpoint, undefined, 2)}\n`);
  await control.blobs.put(`${prefix}/checkpoint.json`, manifest);
  await control.store.put(key, checkpoint, { ifVersion });
}

/** @throws SpotterError `blob_corrupt` for the first of the announced files that is not there whole. */
export async function checkFiles(
  control: Control,
  prefix: string,
  files: readonly CheckpointFile[],
): Promise<void> {
  for (const file of files) {
    const info = await control.blobs.head(`${prefix}/${file.path}`);
    if (info?.size === file.size) continue;
    throw new SpotterError(
      "blob_corrupt",
      info === undefined
        ? `It is not complete: ${file.path} was not uploaded.`
        : `${file.path} has ${info.size} bytes, announced were ${file.size}.`,
      { where: file.path, hint: "Upload the file again, then complete it." },
    );
  }
}

async function trainJob(control: Control, jobId: string, attempt: number) {
  const job = await liveJob(control, jobId, attempt);
  if (job.kind === "train") return job;
  throw new SpotterError("forbidden", `Job ${jobId} does not train: it has no checkpoints.`);
}

async function announced(control: Control, jobId: string, step: number): Promise<Announced> {
  const found = await control.store.get<Announced>(uploadKey(jobId, step));
  if (found !== undefined) return found.value;
  throw new SpotterError("not_found", `Job ${jobId} did not announce a checkpoint of step ${step}.`);
}

function uploadKey(jobId: string, step: number): DocumentKey {
  return { partition: `uploads/${jobId}`, sort: stepKey(step) };
}
