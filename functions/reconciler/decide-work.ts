import type { Failure } from "../../sdk/schema/errors.ts";
import { hasOutlived, limitFailure, limitReached } from "./limits.ts";
import { isWantOfRoom, roomLoss } from "./platform-failure.ts";
import { backoffMs, isWorthRetrying, lossOf, PREEMPTED, wasPreempted } from "./liveness.ts";
import type { Action, Counts, JobView, Policy, WorkKey, WorkView } from "./views.ts";

/** What a run, an eval or a conversion needs next. */
export function decideWork(work: WorkView, now: number, policy: Policy): Action[] {
  const key: WorkKey = { kind: work.kind, id: work.id, attempt: work.attempt };
  if (work.isUnwanted === true)
    return [{ type: "finish", work: key, outcome: "cancelled", ...(work.job && { jobId: work.job.id }) }];
  if (work.stage === "paused")
    return work.cancelAtMs === undefined ? [] : [{ type: "finish", work: key, outcome: "cancelled" }];
  if (work.stage === "queued") {
    if (work.cancelAtMs !== undefined) return [{ type: "finish", work: key, outcome: "cancelled" }];
    const limit = limitReached(work, now, policy);
    if (limit)
      return [{ type: "finish", work: key, outcome: "failed", failure: limitFailure(work, limit, now) }];
    if (work.conversion !== undefined) return beforeFirst(work, key, work.conversion);
    if (work.waitsForEarlier === true) return [];
    return (work.retryAtMs ?? 0) > now ? [] : [{ type: "begin-attempt", work: key }];
  }
  const { job } = work;
  if (job === undefined) return [];
  if (job.exit) return ended(work, key, job, job.exit, now, policy);
  if (job.container.state === "unknown" && job.startedAtMs === undefined) {
    // The intent was written down, but the container was never started.
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job, now)];
    if (work.pauseAtMs !== undefined) return [{ type: "pause", work: key, jobId: job.id }];
    return [{ type: "launch-job", jobId: job.id }];
  }
  const loss = lossOf(job, now, policy);
  if (loss) {
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job, now)];
    return again(work, key, job, loss, now, policy);
  }
  return alive(work, key, job, now, policy);
}

/** A run whose weights have to be converted first has no container until they are. */
function beforeFirst(
  work: WorkView,
  key: WorkKey,
  conversion: NonNullable<WorkView["conversion"]>,
): Action[] {
  switch (conversion.state) {
    case "missing":
      return [{ type: "begin-conversion", work: key }];
    case "pending":
      return work.waitingFor === CONVERSION
        ? []
        : [{ type: "note-waiting", work: key, waitingFor: CONVERSION }];
    case "failed":
      return [{ type: "finish", work: key, outcome: "failed", failure: conversion.failure }];
  }
}

const CONVERSION = "conversion";

function alive(work: WorkView, key: WorkKey, job: JobView, now: number, policy: Policy): Action[] {
  if (job.container.state === "waiting") {
    if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job, now)];
    if (work.pauseAtMs !== undefined) return [{ type: "pause", work: key, jobId: job.id }];
    const noRoom = job.hasFallbacks ? roomLoss(job, now, policy) : undefined;
    if (noRoom) return again(work, key, job, noRoom, now, policy);
    const waitingFor = job.container.reason;
    return work.kind === "train" && work.waitingFor !== waitingFor
      ? [{ type: "note-waiting", work: key, waitingFor }]
      : [];
  }
  const actions: Action[] = [];
  if (job.startedAtMs === undefined) actions.push({ type: "note-started", jobId: job.id, work: key });
  else if (job.heartbeatAtMs !== undefined && !work.isWorking)
    actions.push({ type: "note-working", work: key });
  if (work.cancelAtMs !== undefined) {
    // A container that never came to speak has nothing to save; one that speaks gets its time.
    const graceMs = job.heartbeatAtMs === undefined ? 0 : policy.cancelGraceMs;
    if (now - work.cancelAtMs >= graceMs) return [finishCancelled(work, key, job, now)];
  } else if (work.pauseAtMs !== undefined) {
    const graceMs = job.heartbeatAtMs === undefined ? 0 : policy.cancelGraceMs;
    if (now - work.pauseAtMs >= graceMs) return [{ type: "pause", work: key, jobId: job.id }];
  } else {
    const limit = limitReached(work, now, policy);
    if (limit) {
      const { message } = limitFailure(work, limit, now);
      actions.push({ type: "expire", work: key, limit, message });
    } else actions.push(...stalled(work, key, job, now, policy));
  }
  return actions;
}

/** A container that beats and gets nowhere: told after a while, given up after twice as long. */
function stalled(work: WorkView, key: WorkKey, job: JobView, now: number, policy: Policy): Action[] {
  if (work.stallMs === undefined || job.startedAtMs === undefined) return [];
  const sinceMs = Math.max(work.progressAtMs ?? 0, job.startedAtMs, policy.leasesFromMs);
  const silentMs = now - sinceMs;
  if (silentMs < work.stallMs) return [];
  const message = `No progress for ${durationText(silentMs)} in phase ${work.phase ?? "start"}.`;
  if (silentMs < 2 * work.stallMs)
    return work.isStalled ? [] : [{ type: "note-stalled", work: key, sinceMs, message }];
  const hint = "See its last lines. If its steps do take this long, raise limits.stallMs.";
  return again(work, key, job, { code: "container_lost", message, hint }, now, policy);
}

function durationText(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

function ended(
  work: WorkView,
  key: WorkKey,
  job: JobView,
  exit: NonNullable<JobView["exit"]>,
  now: number,
  policy: Policy,
): Action[] {
  // What its last checkpoint scores belongs to the run, and what it looks like to others.
  if (exit.outcome === "succeeded" && (work.pending ?? 0) > 0 && work.cancelAtMs === undefined)
    return waiting(work, key, now, policy);
  if (exit.outcome === "succeeded")
    return [{ type: "finish", work: key, outcome: "succeeded", jobId: job.id }];
  if (work.cancelAtMs !== undefined) return [finishCancelled(work, key, job, now)];
  if (work.pauseAtMs !== undefined && exit.outcome === "cancelled")
    return [{ type: "pause", work: key, jobId: job.id }];
  if (exit.outcome === "cancelled") {
    if (wasPreempted(job)) return again(work, key, job, PREEMPTED, now, policy);
    if (mayYetTellWhy(job, now, policy)) return [];
    return again(work, key, job, STOPPED_FROM_OUTSIDE, now, policy);
  }
  const failure = exit.failure ?? {
    code: "container_failed",
    message: "The container failed without a reason.",
  };
  return again(work, key, job, failure, now, policy);
}

/** The training is done. What waits for a GPU to convert its checkpoints could do so for ever: its limits still hold. */
function waiting(work: WorkView, key: WorkKey, now: number, policy: Policy): Action[] {
  if (isCharged(work)) return [{ type: "note-exited", work: key }];
  const limit = work.isConverting === true ? limitReached(work, now, policy) : undefined;
  if (!limit) return [];
  return [{ type: "expire", work: key, limit, message: limitFailure(work, limit, now).message }];
}

function isCharged({ charges = [], attempt }: WorkView): boolean {
  return charges.some(
    ({ conversion, startedAtMs, endedAtMs, ...each }) =>
      conversion === undefined &&
      each.attempt === attempt &&
      startedAtMs !== undefined &&
      endedAtMs === undefined,
  );
}

/** A spot container that was told to stop says so before it is gone; only its platform knows why. */
function mayYetTellWhy(
  { spot, container, startedAtMs, heartbeatAtMs }: JobView,
  now: number,
  policy: Policy,
) {
  const isUp = container.state === "starting" || container.state === "running";
  const lastSignMs = Math.max(heartbeatAtMs ?? startedAtMs ?? 0, policy.leasesFromMs);
  return spot === true && isUp && now - lastSignMs <= policy.leaseMs;
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
  const counts = countsAs(job, failure, now);
  const losses = work.losses + (counts === "loss" ? 1 : 0);
  const preemptions = (work.preemptions ?? 0) + (counts === "preemption" ? 1 : 0);
  // What would begin again from its last checkpoint may as well do so when it is resumed.
  if (work.pauseAtMs !== undefined && isWorthRetrying(failure.code))
    return [{ type: "pause", work: key, jobId: job.id }];
  // The next attempt looks at its checkpoint again and takes the one before if it has to.
  const mayHelp = isWorthRetrying(failure.code) || (work.kind === "train" && failure.code === "blob_corrupt");
  // A conversion has nothing to go on from: another attempt would live as long and get as far.
  const isVain = work.kind === "convert" && counts === "nothing";
  const isLast = isVain || losses >= policy.maxAttempts || preemptions >= policy.maxPreemptions;
  if (!mayHelp || isLast) {
    const why = isVain ? { ...failure, hint: TOO_SHORT } : failure;
    return [{ type: "finish", work: key, outcome: "failed", jobId: job.id, failure: why }];
  }
  const retryAtMs = now + backoffMs(Math.max(1, counts === "preemption" ? preemptions : losses));
  return [{ type: "requeue", work: key, jobId: job.id, failure, retryAtMs, counts }];
}

const TOO_SHORT =
  "Its container lived as long as the run's limits let it: raise limits.durationMs or limits.maxCostUsd.";

/** What the platform takes for its own reasons says nothing about the work. */
function countsAs(job: JobView, failure: Failure, now: number): Counts {
  if (failure.code === "preempted") return "preemption";
  if (job.hasFallbacks && isWantOfRoom(failure)) return "no-room";
  const isGone = failure.code === "container_failed" || failure.code === "container_lost";
  return isGone && hasOutlived(job, now) ? "nothing" : "loss";
}

function finishCancelled(work: WorkView, key: WorkKey, job: JobView, now: number): Action {
  const limit = work.overBudget ? "budget" : work.expired ? "time" : undefined;
  if (!limit) return { type: "finish", work: key, outcome: "cancelled", jobId: job.id };
  const failure = limitFailure(work, limit, now);
  return { type: "finish", work: key, outcome: "failed", jobId: job.id, failure };
}
