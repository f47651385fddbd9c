import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobCheckpointBegin, JobUpload, JobUploadedParts } from "../../sdk/schema/job.ts";
import {
  checkpointKey,
  checkpointPrefix,
  getCheckpoint,
  type StoredCheckpoint,
} from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { getConversion } from "../conversions/records.ts";
import { beginCheckpointConversion } from "../conversions/run-conversions.ts";
import type { DocumentKey } from "../ports/store.ts";
import { beginRunEvals } from "../evals/run-evals.ts";
import { findRun, getRunSpec, runStream, type StreamedEvent } from "../runs/records.ts";
import { stepKey } from "../records/step-key.ts";
import { update } from "../records/update.ts";
import {
  abandonUploads,
  type BegunUploads,
  checkFiles,
  completeUploads,
  planUploads,
} from "./checkpoint-uploads.ts";
import { liveJob, type JobRecord } from "./records.ts";

interface Announced extends JobCheckpointBegin {
  begun?: BegunUploads;
}

/** Takes note of the files that will come and says where each goes. Announcing again replaces the note. */
export async function beginCheckpoint(
  control: Control,
  jobId: string,
  begin: JobCheckpointBegin,
): Promise<{ uploads: JobUpload[] }> {
  const job = await liveJob(control, jobId, begin.attempt);
  checkParts(job, begin);
  const prefix = await prefixOf(control, job, begin.step);
  await checkUnpublished(control, job, begin.step);
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
  const job = await liveJob(control, jobId, begin.attempt);
  const file = begin.files.find((each) => each.path === path);
  if (file === undefined) {
    throw new SpotterError("not_found", `Checkpoint ${step} did not announce a file ${path}.`, {
      where: path,
    });
  }
  const prefix = await prefixOf(control, job, step);
  const whole = job.kind === "convert" ? body.pipeThrough(whileLive(control, job)) : body;
  await control.blobs.put(`${prefix}/${path}`, whole, { sha256: file.sha256 });
}

/** All attempts of a conversion write to one place: what one of them began to send does not count once it is over. */
function whileLive(control: Control, { id, attempt }: JobRecord): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async flush() {
      await liveJob(control, id, attempt);
    },
  });
}

/** Publishes a checkpoint, or the weights of one, whose files are all there. From here on they exist, and not before. */
export async function completeCheckpoint(
  control: Control,
  jobId: string,
  step: number,
  attempt: number,
  parts: readonly JobUploadedParts[] = [],
): Promise<Checkpoint> {
  const job = await liveJob(control, jobId, attempt);
  if (job.kind === "convert") return completeWeights(control, job, step, parts);
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
  if (hasWeights(checkpoint)) await announceWeights(control, checkpoint);
  else await beginCheckpointConversion(control, checkpoint);
  control.bus.notify(runStream(job.owner));
  return checkpoint;
}

/** What can be done with a checkpoint once its weights are there. */
async function announceWeights(control: Control, { runId, step }: Checkpoint): Promise<void> {
  const state = (await findRun(control, runId))?.run.state;
  // With those its other evals ended.
  if (state !== "failed" && state !== "cancelled")
    await beginRunEvals(control, runId, step, await getRunSpec(control, runId));
  // Weights of an earlier step may have come after those of a later one.
  control.routes.forgetLatestCheckpoint(runId);
}

/** A checkpoint gets its weights all at once, and keeps everything else. */
async function completeWeights(
  control: Control,
  job: JobRecord,
  step: number,
  parts: readonly JobUploadedParts[],
): Promise<Checkpoint> {
  const prefix = await prefixOf(control, job, step);
  const { runId } = await getConversion(control, job.owner);
  const { files, begun = {} } = await announced(control, job.id, step);
  await completeUploads(control.blobs, prefix, begun, parts);
  await checkFiles(control.blobs, prefix, files);
  const changed = await update<StoredCheckpoint>(
    control.store,
    checkpointKey(runId, step),
    async (current) => {
      if (current === undefined || hasWeights(current.value)) return undefined;
      // Looking at the files takes a while: the next attempt may write them meanwhile.
      await liveJob(control, job.id, job.attempt);
      const whole = { ...current.value, files: [...current.value.files, ...files] };
      await putManifest(control, whole);
      return { value: whole };
    },
  );
  if (changed === undefined) throw new SpotterError("checkpoint_not_found", `${runId}@${step} is gone.`);
  await announceWeights(control, changed.value);
  return changed.value;
}

async function newCheckpoint(
  control: Control,
  jobId: string,
  step: number,
  parts: readonly JobUploadedParts[],
): Promise<Checkpoint> {
  const begin = await announced(control, jobId, step);
  const job = await liveJob(control, jobId, begin.attempt);
  const prefix = await prefixOf(control, job, step);
  await completeUploads(control.blobs, prefix, begin.begun ?? {}, parts);
  await checkFiles(control.blobs, prefix, begin.files);
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
  await putManifest(control, checkpoint);
  await control.store.put(key, checkpoint, { ifVersion });
}

async function putManifest(control: Control, checkpoint: Checkpoint): Promise<void> {
  const prefix = checkpointPrefix(checkpoint.runId, checkpoint.step, checkpoint.attempt);
  const manifest = new TextEncoder().encode(`${JSON.stringify(checkpoint, undefined, 2)}\n`);
  await control.blobs.put(`${prefix}/checkpoint.json`, manifest);
}

/** Where the files of a step go: a training has checkpoints of its own, a conversion adds to the one it is of. */
async function prefixOf(control: Control, job: JobRecord, step: number): Promise<string> {
  if (job.kind === "train") return checkpointPrefix(job.owner, step, job.attempt);
  const conversion = job.kind === "convert" ? await getConversion(control, job.owner) : undefined;
  if (conversion?.step !== step)
    throw new SpotterError("forbidden", `Job ${job.id} does not train: it has no checkpoint ${step}.`);
  const { attempt } = await getCheckpoint(control, `${conversion.runId}@${step}`);
  return checkpointPrefix(conversion.runId, step, attempt);
}

/** Weights that are there do not change any more, not even by the job that made them. */
async function checkUnpublished(control: Control, job: JobRecord, step: number): Promise<void> {
  if (job.kind !== "convert") return;
  const { runId } = await getConversion(control, job.owner);
  const checkpoint = await getCheckpoint(control, `${runId}@${step}`);
  if (!hasWeights(checkpoint)) return;
  throw new SpotterError("conflict", `Checkpoint ${checkpoint.id} has its weights already.`, {
    where: checkpoint.id,
  });
}

/** Where another job can make the weights, the state is enough. */
function checkParts({ kind, engine }: JobRecord, { files }: JobCheckpointBegin): void {
  const isState = kind === "train" && engine !== undefined;
  const isWrong =
    kind === "convert"
      ? files.length === 0 || files.some(({ path }) => !path.startsWith("model/"))
      : !files.some(({ path }) => path.startsWith("model/") || (isState && path.startsWith("trainer/")));
  if (!isWrong) return;
  const message =
    kind === "convert"
      ? "A conversion adds files below model/ and no others."
      : "A checkpoint needs at least one file below model/.";
  throw new SpotterError("invalid_input", message, { where: "files" });
}

async function announced(control: Control, jobId: string, step: number): Promise<Announced> {
  const found = await control.store.get<Announced>(uploadKey(jobId, step));
  if (found !== undefined) return found.value;
  throw new SpotterError("not_found", `Job ${jobId} did not announce a checkpoint of step ${step}.`);
}

function uploadKey(jobId: string, step: number): DocumentKey {
  return { partition: `uploads/${jobId}`, sort: stepKey(step) };
}
