import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import { getConversion } from "../conversions/records.ts";
import { findEndpoint } from "../endpoints/records.ts";
import { changeJob, findJob, jobKey, type JobRecord } from "../jobs/records.ts";
import { getRunSpec } from "../runs/records.ts";
import { boundedFailure } from "../records/bounded-failure.ts";
import { DEFAULT_LIFETIME_MS } from "../cost/lifetime.ts";
import { hasToken, newJobToken, withToken } from "../jobs/tokens.ts";

const LOG_TAIL_LINES = 200;

/** Writes down that a container will be started. Its token is made when it is. */
export async function intendJob(
  control: Control,
  job: Pick<
    JobRecord,
    | "id"
    | "kind"
    | "owner"
    | "attempt"
    | "endpoint"
    | "resume"
    | "hardware"
    | "engine"
    | "price"
    | "maxLifetimeMs"
  >,
): Promise<void> {
  if (await findJob(control, job.id)) return;
  const record: JobRecord = {
    v: 1,
    ...job,
    tokenHash: "",
    createdAtMs: control.clock.now(),
    fenced: false,
  };
  await control.store.put(jobKey(job.id), record, { ifVersion: 0 });
}

/** Starts the container of a job that was written down. What goes wrong here ends the job with its reason. */
export async function launchJob(control: Control, jobId: string): Promise<boolean> {
  const { token, hash } = newJobToken(jobId, control.ids.secret(24));
  const job = await changeJob(control, jobId, (current) =>
    current.fenced || current.startedAtMs !== undefined ? undefined : withToken(current, hash),
  );
  if (job === undefined || !hasToken(job, hash)) return false;
  try {
    const { env, imageOverlay, folders, isBeside } = await askedFor(control, job);
    await control.containers.launch({
      jobId,
      kind: job.kind,
      environment: {
        // What the job needs comes last: nothing that a run brings can take its place.
        ...env,
        SPOTTER_URL: control.config.publicUrl(),
        SPOTTER_JOB_ID: jobId,
        SPOTTER_JOB_TOKEN: token,
      },
      ...(job.hardware && { hardware: job.hardware }),
      ...(job.engine && { engine: job.engine }),
      ...(job.engine && imageOverlay && { imageOverlay }),
      ...(job.engine && folders.length > 0 && { folders }),
      ...(isBeside && { isBeside }),
      maxLifetimeMs: job.maxLifetimeMs ?? DEFAULT_LIFETIME_MS,
    });
  } catch (cause) {
    const error = SpotterError.from(cause);
    control.log.error("container did not launch", { jobId, message: error.message });
    const code = error.code === "internal" ? "container_failed" : error.code;
    const failure: Failure = { code, message: error.message, ...(error.hint && { hint: error.hint }) };
    await changeJob(control, jobId, (current) => ({ ...current, exit: { outcome: "failed", failure } }));
  }
  return true;
}

interface AskedFor extends Partial<Pick<RunSpec, "env" | "imageOverlay">> {
  /** Models that are folders of this machine. */
  folders: string[];
  isBeside?: boolean;
}

/** What the job's own run or endpoint asks for. */
async function askedFor(control: Control, job: JobRecord): Promise<AskedFor> {
  if (job.kind === "eval") return { folders: [] };
  if (job.kind === "serve") {
    const document = await findEndpoint(control, job.owner);
    return { folders: document === undefined ? [] : foldersOf(document.endpoint.model) };
  }
  const conversion = job.kind === "convert" ? await getConversion(control, job.owner) : undefined;
  const { env, imageOverlay, model } = await getRunSpec(control, conversion?.runId ?? job.owner);
  // Specs from before there were variables have none.
  return {
    env: env ?? {},
    imageOverlay,
    folders: foldersOf(model),
    isBeside: conversion?.step !== undefined,
  };
}

function foldersOf({ name }: ModelRef): string[] {
  return name.startsWith("/") ? [name] : [];
}

export async function noteStarted(control: Control, jobId: string): Promise<void> {
  await changeJob(control, jobId, (job) =>
    job.startedAtMs === undefined ? { ...job, startedAtMs: control.clock.now() } : undefined,
  );
}

/** The failure with the last lines of its container, unless it has some. */
export async function withLogTail(control: Control, jobId: string, failure: Failure): Promise<Failure> {
  if (failure.logTail !== undefined && failure.logTail.length > 0) return boundedFailure(failure);
  const logTail = await control.containers.logs(jobId, LOG_TAIL_LINES);
  return boundedFailure(logTail.length === 0 ? failure : { ...failure, logTail });
}
