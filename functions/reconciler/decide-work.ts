import type { Failure } from "../../sdk/schema/errors.ts";
import { backoffMs, isWorthRetrying, lossOf } from "./liveness.ts";
import type { Action, JobView, Policy, WorkKey, WorkView } from "./views.ts";

/** What a run or an eval needs next. */
export function decideWork(work: WorkView, now: number, policy: Policy): Action[] {
  const key: WorkKey = { kind: work.kind, id: work.id, attempt: work.attempt };
  if (work.stage === "paused") return [];
  if (work.stage === "queued") {
    if (work.cancelAtMs !== undefined) return [{ type: "finish", work: key, outcome: "cancelled" }];
    return (work.retryAtMs ?? 0) > now ? [] : [{ type: "begin-attempt", work: key }];
  }
  const { job } = work;
  if (job === undefined) return [];
  if (job.exit) return ended(work, key, job, job.exit, now, policy);
  if (job.container.state === "unknown" && job.startedAtMs === undefined) {
    // The intent was written down, but the container was never started.
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job)];
    return [{ type: "launch-job", jobId: job.id }];
  }
  const loss = lossOf(job, now, policy);
  if (loss) {
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job)];
    return again(work, key, job, loss, now, policy);
  }
  return alive(work, key, job, now, policy);
}

function alive(work: WorkView, key: WorkKey, job: JobView, now: number, policy: Policy): Action[] {
  if (job.container.state === "waiting") {
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job)];
    const waitingFor = job.container.reason;
    return work.kind === "eval" || work.waitingFor === waitingFor
      ? []
      : [{ type: "note-waiting", work: key, waitingFor }];
  }
  const actions: Action[] = [];
  if (job.startedAtMs === undefined) actions.push({ type: "note-started", jobId: job.id, work: key });
  else if (job.heartbeatAtMs !== undefined && !work.isWorking)
    actions.push({ type: "note-working", work: key });
  if (work.cancelAtMs !== undefined) {
    // A container that never came to speak has nothing to save; one that speaks gets its time.
    const graceMs = job.heartbeatAtMs === undefined ? 0 : policy.cancelGraceMs;
    if (now - work.cancelAtMs >= graceMs) return [finishCancelled(work, key, job)];
  } else if (isOverTime(work, now)) actions.push({ type: "expire", work: key });
  return actions;
}

function isOverTime(work: WorkView, now: number): boolean {
  if (work.durationMs === undefined || work.workingSinceMs === undefined) return false;
  return now - work.workingSinceMs >= work.durationMs;
}

function ended(
  work: WorkView,
  key: WorkKey,
  job: JobView,
  exit: NonNullable<JobView["exit"]>,
  now: number,
  policy: Policy,
): Action[] {
  if (exit.outcome === "succeeded")
    return [{ type: "finish", work: key, outcome: "succeeded", jobId: job.id }];
  if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job)];
  if (exit.outcome === "cancelled") return again(work, key, job, STOPPED_FROM_OUTSIDE, now, policy);
  const failure = exit.failure ?? {
    code: "container_failed",
    message: "The container failed without a reason.",
  };
  return again(work, key, job, failure, now, policy);
}

/** Nobody cancelled the work: the machine or the daemon went down and took the container along. */
const STOPPED_FROM_OUTSIDE: Failure = {
  code: "container_lost",
  message: "Its container was told to stop from outside.",
};

/** Another attempt where that may help and there are some left; else the end. */
function again(
  work: WorkView,
  key: WorkKey,
  job: JobView,
  failure: Failure,
  now: number,
  policy: Policy,
): Action[] {
  const losses = work.losses + 1;
  if (!isWorthRetrying(failure.code) || losses >= policy.maxAttempts)
    return [{ type: "finish", work: key, outcome: "failed", jobId: job.id, failure }];
  return [{ type: "requeue", work: key, jobId: job.id, failure, retryAtMs: now + backoffMs(losses) }];
}

function finishCancelled(work: WorkView, key: WorkKey, job: JobView): Action {
  if (!work.expired) return { type: "finish", work: key, outcome: "cancelled", jobId: job.id };
  const failure: Failure = {
    code: "timeout",
    message: `The run worked for ${Math.round((work.durationMs ?? 0) / 1000)} s, which is its limit.`,
    hint: "Its checkpoints are kept; continue from the last one, or raise limits.durationMs.",
  };
  return { type: "finish", work: key, outcome: "failed", jobId: job.id, failure };
}
