import type { Price } from "../../sdk/schema/cost.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Hardware } from "../../sdk/schema/hardware.ts";
import type { ContainerKind, ForeignEngine } from "../ports/containers.ts";
import type { DocumentKey } from "../ports/store.ts";
import type { Control } from "../control.ts";
import { update } from "../records/update.ts";

/** One container's work: an attempt of a run, an eval or a conversion, or a replica. Written before the container starts. */
export interface JobRecord {
  v: 1;
  id: string;
  kind: ContainerKind;
  /** Id of a run, an eval or a conversion, or the name of an endpoint. */
  owner: string;
  attempt: number;
  /** The checkpoint that an attempt goes on from: every file of it was found as it was saved. */
  resume?: string;
  /** The endpoint that an eval may talk to. */
  endpoint?: string;
  hardware?: Hardware;
  /** Absent: the embedded one. */
  engine?: ForeignEngine;
  /** What an hour of its container costs, as the price list said when it was to be launched. */
  price?: Price;
  /** Its home ends the container by itself after this long. */
  maxLifetimeMs?: number;
  tokenHash: string;
  /** Of further launches, each written down before it: nobody may ever know which of them started the container. */
  furtherTokenHashes?: string[];
  createdAtMs: number;
  /** When its container was first seen to run. */
  startedAtMs?: number;
  /** When it was seen to be over. */
  endedAtMs?: number;
  heartbeatAtMs?: number;
  /** No further word from this container counts: a newer attempt owns the work, or it has ended. */
  fenced: boolean;
  /** The last batch of events that was begun; a resend completes it under the same name. */
  batch?: { first: number; last: number };
  /** Where a replica listens. */
  address?: string;
  exit?: { outcome: "succeeded" | "failed" | "cancelled"; failure?: Failure };
  /** Since when its platform has said that it may soon take the container back. */
  leavingSinceMs?: number;
}

export function jobKey(id: string): DocumentKey {
  return { partition: "jobs", sort: id };
}

export function trainJobId(runId: string, attempt: number): string {
  return `train-${runId}-a${attempt}`;
}

export function serveJobId(endpoint: string, revision: number, number: number): string {
  return `serve-${endpoint}-r${revision}-${number}`;
}

/** The revision of its endpoint that a replica belongs to; 0 for what is no replica. */
export function revisionOfServeJob(jobId: string): number {
  return Number(/^serve-.*-r(\d+)-\d+$/.exec(jobId)?.[1] ?? 0);
}

export function evalJobId(evalId: string, attempt: number): string {
  return `eval-${evalId}-a${attempt}`;
}

export async function findJob(control: Control, id: string): Promise<JobRecord | undefined> {
  return (await control.store.get<JobRecord>(jobKey(id)))?.value;
}

/** The job, if its attempt still owns the work; else 410, and the container exits. */
export async function liveJob(control: Control, id: string, attempt: number): Promise<JobRecord> {
  const job = await findJob(control, id);
  if (job === undefined) throw new SpotterError("not_found", `There is no job ${id}.`, { where: id });
  if (job.fenced || job.attempt !== attempt) throw staleAttempt(id);
  return job;
}

export function staleAttempt(id: string): SpotterError {
  return new SpotterError("attempt_stale", `Job ${id} no longer owns its work.`, {
    where: id,
    hint: "A newer attempt took over or the work has ended; this container must exit.",
  });
}

/** Changes a job record; `change` returns undefined to leave it. */
export async function changeJob(
  control: Control,
  id: string,
  change: (job: JobRecord) => JobRecord | undefined,
): Promise<JobRecord | undefined> {
  const document = await update<JobRecord>(control.store, jobKey(id), (current) => {
    const next = current && change(current.value);
    return next && { value: next };
  });
  if (document !== undefined) control.jobTokens.set(id, document);
  return document?.value;
}

/** Writes down that these may soon be taken back, so that who comes after this process knows. Twice is harmless. */
export async function noteLeaving(control: Control, ids: readonly string[]): Promise<void> {
  const leavingSinceMs = control.clock.now();
  for (const id of ids)
    await changeJob(control, id, (job) =>
      job.leavingSinceMs === undefined ? { ...job, leavingSinceMs } : undefined,
    );
}

export async function fenceJob(control: Control, id: string): Promise<void> {
  const endedAtMs = control.clock.now();
  await changeJob(control, id, (job) => (job.fenced ? undefined : { ...job, fenced: true, endedAtMs }));
}
