import type { CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobConversionBegin, JobFile, JobUpload, JobUploadedParts } from "../../sdk/schema/job.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { putFirst, update } from "../records/update.ts";
import { abandonUploads, type BegunUploads, completeUploads, planUploads } from "./checkpoint-uploads.ts";
import { checkFiles } from "./checkpoints.ts";
import { liveJob, type JobRecord } from "./records.ts";

export const CONVERSIONS = "conversions";

/** Weights that a container wrote in its engine's own format, for the next one that needs the same. */
export interface Conversion {
  v: 1;
  /** Of the job that made it: two that convert the same at a time write into folders of their own. */
  prefix: string;
  files: CheckpointFile[];
  /** When it was made, or last asked for. */
  usedAtMs: number;
}

interface Announced {
  v: 1;
  files: CheckpointFile[];
  begun: BegunUploads;
}

/** The files of a conversion that is complete, where a container fetches them. */
export async function conversionOf(
  control: Control,
  job: JobRecord,
  key: string,
): Promise<{ files: JobFile[] }> {
  checkTrains(job);
  const usedAtMs = control.clock.now();
  const found = await update<Conversion>(
    control.store,
    conversionKey(key),
    (current) => current && { value: { ...current.value, usedAtMs } },
  );
  if (found === undefined) throw new SpotterError("not_found", `There is no conversion ${key}.`);
  const url = `${jobUrl(control, job.id, key)}/files`;
  return { files: found.value.files.map((file) => ({ ...file, url: `${url}/${encodeURI(file.path)}` })) };
}

/** Where one of them lies. */
export async function conversionBlob(
  control: Control,
  job: JobRecord,
  key: string,
  path: string,
): Promise<string> {
  checkTrains(job);
  const found = (await control.store.get<Conversion>(conversionKey(key)))?.value;
  if (found?.files.some((file) => file.path === path) === true) return `${found.prefix}/${path}`;
  throw new SpotterError("forbidden", `This job may not read ${path} of conversion ${key}.`);
}

/** Takes note of the files that will come and says where each goes. Announcing again replaces the note. */
export async function beginConversion(
  control: Control,
  jobId: string,
  key: string,
  { attempt, files }: JobConversionBegin,
): Promise<{ uploads: JobUpload[] }> {
  checkTrains(await liveJob(control, jobId, attempt));
  const prefix = prefixOf(key, jobId);
  const base = `${jobUrl(control, jobId, key)}/files`;
  const before = await control.store.get<Announced>(uploadKey(jobId, key));
  const { uploads, begun } = await planUploads(control.blobs, prefix, base, files);
  await control.store.put(uploadKey(jobId, key), { v: 1, files, begun } satisfies Announced);
  await abandonUploads(control.blobs, prefix, before?.value.begun ?? {});
  return { uploads };
}

/** Stores one announced file; a body that hashes otherwise is refused and not kept. */
export async function putConversionFile(
  control: Control,
  job: JobRecord,
  key: string,
  path: string,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  checkTrains(await liveJob(control, job.id, job.attempt));
  const { files } = await announced(control, job.id, key);
  const file = files.find((each) => each.path === path);
  if (file === undefined)
    throw new SpotterError("not_found", `Conversion ${key} did not announce a file ${path}.`, {
      where: path,
    });
  await control.blobs.put(`${prefixOf(key, job.id)}/${path}`, body, { sha256: file.sha256 });
}

/** From here on it is there for others; the first of two that made the same stays. */
export async function completeConversion(
  control: Control,
  jobId: string,
  key: string,
  attempt: number,
  parts: readonly JobUploadedParts[] = [],
): Promise<{ files: number }> {
  checkTrains(await liveJob(control, jobId, attempt));
  const { files, begun } = await announced(control, jobId, key);
  const prefix = prefixOf(key, jobId);
  await completeUploads(control.blobs, prefix, begun, parts);
  await checkFiles(control, prefix, files);
  const made: Conversion = { v: 1, prefix, files, usedAtMs: control.clock.now() };
  return { files: (await putFirst(control.store, conversionKey(key), made)).files.length };
}

export function conversionKey(key: string): DocumentKey {
  return { partition: CONVERSIONS, sort: key };
}

async function announced(control: Control, jobId: string, key: string): Promise<Announced> {
  const found = await control.store.get<Announced>(uploadKey(jobId, key));
  if (found !== undefined) return found.value;
  throw new SpotterError("not_found", `Job ${jobId} did not announce conversion ${key}.`);
}

function uploadKey(jobId: string, key: string): DocumentKey {
  return { partition: `uploads/${jobId}`, sort: `conversion-${key}` };
}

function prefixOf(key: string, jobId: string): string {
  return `${CONVERSIONS}/${key}/${jobId}`;
}

function jobUrl(control: Control, jobId: string, key: string): string {
  return `${control.config.publicUrl()}/jobs/${encodeURIComponent(jobId)}/conversions/${key}`;
}

function checkTrains({ kind, id }: JobRecord): void {
  if (kind !== "train") throw new SpotterError("forbidden", `Job ${id} does not train: it converts nothing.`);
}
