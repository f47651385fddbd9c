import type { CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobConversionBegin, JobFile, JobUpload, JobUploadedParts } from "../../sdk/schema/job.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { getConversion } from "../conversions/records.ts";
import { putFirst, update } from "../records/update.ts";
import {
  abandonUploads,
  type BegunUploads,
  checkFiles,
  completeUploads,
  planUploads,
} from "./checkpoint-uploads.ts";
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
  /** What is known to lead to it: see conversions/source.ts. */
  sources?: string[];
}

/** The key of what came of a source, so that it is found without its weights. */
interface KnownSource {
  v: 1;
  key: string;
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
  await checkConverts(control, await liveJob(control, job.id, job.attempt));
  const found = await touch(control, key);
  if (found === undefined) throw new SpotterError("not_found", `There is no conversion ${key}.`);
  await noteSource(control, job, key);
  const url = `${jobUrl(control, job.id, key)}/files`;
  return { files: found.files.map((file) => ({ ...file, url: `${url}/${encodeURI(file.path)}` })) };
}

/** Whether what comes of a source is kept; from now on somebody is about to fetch it. */
export async function keptUnder(control: Control, source: string): Promise<boolean> {
  const known = await control.store.get<KnownSource>(sourceKey(source));
  return known !== undefined && (await touch(control, known.value.key)) !== undefined;
}

async function touch(control: Control, key: string): Promise<Conversion | undefined> {
  const usedAtMs = control.clock.now();
  const found = await update<Conversion>(
    control.store,
    conversionKey(key),
    (current) => current && { value: { ...current.value, usedAtMs } },
  );
  return found?.value;
}

/** A job that converts and nothing else has one source, and this is what came of it. */
async function noteSource(control: Control, { kind, owner }: JobRecord, key: string): Promise<void> {
  if (kind !== "convert") return;
  const { source } = await getConversion(control, owner);
  // First where it is removed from: one that leads to nothing only costs a look.
  await update<Conversion>(control.store, conversionKey(key), (current) => {
    if (current === undefined || current.value.sources?.includes(source) === true) return undefined;
    return { value: { ...current.value, sources: [...(current.value.sources ?? []), source] } };
  });
  await control.store.put(sourceKey(source), { v: 1, key } satisfies KnownSource);
}

/** The documents first: what they do not name any more, nobody asks for. */
export async function forgetConversion(control: Control, key: string): Promise<void> {
  const found = await control.store.get<Conversion>(conversionKey(key));
  for (const source of found?.value.sources ?? []) await control.store.delete(sourceKey(source));
  await control.store.delete(conversionKey(key));
}

/** Where one of them lies. */
export async function conversionBlob(
  control: Control,
  job: JobRecord,
  key: string,
  path: string,
): Promise<string> {
  await checkConverts(control, job);
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
  await checkConverts(control, await liveJob(control, jobId, attempt));
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
  await checkConverts(control, await liveJob(control, job.id, job.attempt));
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
  const job = await liveJob(control, jobId, attempt);
  await checkConverts(control, job);
  const { files, begun } = await announced(control, jobId, key);
  const prefix = prefixOf(key, jobId);
  await completeUploads(control.blobs, prefix, begun, parts);
  await checkFiles(control.blobs, prefix, files);
  const made: Conversion = { v: 1, prefix, files, usedAtMs: control.clock.now() };
  const kept = await putFirst(control.store, conversionKey(key), made);
  await noteSource(control, job, key);
  return { files: kept.files.length };
}

export function conversionKey(key: string): DocumentKey {
  return { partition: CONVERSIONS, sort: key };
}

async function announced(control: Control, jobId: string, key: string): Promise<Announced> {
  const found = await control.store.get<Announced>(uploadKey(jobId, key));
  if (found !== undefined) return found.value;
  throw new SpotterError("not_found", `Job ${jobId} did not announce conversion ${key}.`);
}

function sourceKey(source: string): DocumentKey {
  return { partition: "conversion-sources", sort: source };
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

/** Those of checkpoints have nothing to do with what runs start from. */
async function checkConverts(control: Control, { kind, id, owner }: JobRecord): Promise<void> {
  if (kind === "train") return;
  if (kind === "convert" && (await getConversion(control, owner)).step === undefined) return;
  const message = `Job ${id} neither trains nor converts what a run starts from.`;
  throw new SpotterError("forbidden", message, { where: id });
}
