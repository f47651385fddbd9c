import type { JobDetail } from "@aws-sdk/client-batch";
import type { ContainerState } from "../../ports/containers.ts";
import { startedFor, type StartedFor } from "../aws-containers/names.ts";
import { detailOf, exitReason, notStartedReason } from "../aws-containers/reasons.ts";

/** What is used of a job of Batch. */
export interface JobView extends StartedFor {
  /** The id that Batch gave it. */
  id: string;
  status: string;
  statusReason?: string;
  createdAtMs: number;
  startedAtMs?: number;
  /** Somebody called TerminateJob or CancelJob. */
  isTerminated: boolean;
  instanceArn?: string;
  exitCode?: number;
  containerReason?: string;
  logStream?: string;
}

/** The view of a job; undefined where it is none of this stack's. */
export function viewOfJob(stack: string, job: JobDetail): JobView | undefined {
  const owner = startedFor(stack, job.tags ?? {});
  if (owner === undefined || job.jobId === undefined) return undefined;
  // A job that ends before its container tells of it has both in the attempt only.
  const attempt = job.attempts?.at(-1)?.container;
  return {
    ...owner,
    id: job.jobId,
    status: job.status ?? "SUBMITTED",
    statusReason: job.statusReason,
    createdAtMs: job.createdAt ?? 0,
    startedAtMs: job.startedAt || undefined,
    isTerminated: job.isTerminated === true || job.isCancelled === true,
    instanceArn: job.container?.containerInstanceArn ?? attempt?.containerInstanceArn,
    exitCode: job.container?.exitCode ?? attempt?.exitCode,
    containerReason: job.container?.reason ?? attempt?.reason,
    logStream: job.container?.logStreamName ?? attempt?.logStreamName,
  };
}

/** The id of a job's main node, where it has several: nodes are addressed by their number. */
export function mainNodeOf({ jobId, nodeProperties }: JobDetail): string[] {
  return jobId === undefined || nodeProperties === undefined
    ? []
    : [`${jobId}#${nodeProperties.mainNode ?? 0}`];
}

export function isOver({ status }: Pick<JobView, "status">): boolean {
  return status === "SUCCEEDED" || status === "FAILED";
}

/** A job that is over stays so, whatever comes late. Batch numbers nothing, so for the rest the last word counts. */
export function newerJob(known: JobView | undefined, seen: JobView): JobView {
  if (known === undefined) return seen;
  return isOver(known) || JSON.stringify(known) === JSON.stringify(seen) ? known : seen;
}

export function jobState(job: JobView, { logTail = [] }: { logTail?: string[] } = {}): ContainerState {
  switch (job.status) {
    case "SUBMITTED":
    case "PENDING":
    case "RUNNABLE":
      return waiting(job.statusReason ?? "");
    case "STARTING":
      return { state: "starting" };
    case "SUCCEEDED":
    case "FAILED":
      return exited(job, logTail);
    default:
      return { state: "running", ...(job.startedAtMs !== undefined && { sinceMs: job.startedAtMs }) };
  }
}

function waiting(why: string): ContainerState {
  const reason = notStartedReason(why) ?? "capacity";
  return { state: "waiting", reason, ...(why !== "" && { detail: why }) };
}

function exited(job: JobView, logTail: string[]): ContainerState {
  const { statusReason = "", containerReason = "", startedAtMs, isTerminated } = job;
  const exitCode = job.exitCode ?? (job.status === "SUCCEEDED" ? 0 : null);
  const words = [statusReason, containerReason];
  const isFailedStart = startedAtMs === undefined && exitCode === null;
  // A time limit of the queue cancels as a person does, and says why.
  const isRefused = isFailedStart && notStartedReason(statusReason) !== undefined;
  const isStopped = isTerminated && !isRefused;
  const reason = exitReason({ exitCode, words, isStopped, isFailedStart, logTail });
  const detail = reason === "done" ? undefined : detailOf(words, exitCode);
  return { state: "exited", exitCode, reason, logTail, ...(detail !== undefined && { detail }) };
}
