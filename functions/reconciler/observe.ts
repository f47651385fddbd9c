import type { EvalState } from "../../sdk/schema/eval.ts";
import type { RunState } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import { ENDPOINTS, type EndpointDocument } from "../endpoints/records.ts";
import { EVALS, type EvalDocument } from "../evals/records.ts";
import { evalJobId, findJob, trainJobId } from "../jobs/records.ts";
import { collect } from "../records/update.ts";
import { RUNS, type RunDocument } from "../runs/records.ts";
import type { EndpointView, JobView, ReplicaView, WorkView, World } from "./views.ts";

/** A step of a large model on a small machine takes minutes; half an hour without a word is not normal. */
const STALL_MS = 30 * 60_000;

/** Reads everything that is not settled, and what its containers do. */
export async function observe(control: Control): Promise<World> {
  // First the containers: one that is launched after this has its record by the time records are read.
  const containers = await control.containers.list();
  const [runs, evals, endpoints] = await Promise.all([
    live<RunDocument>(control, RUNS),
    live<EvalDocument>(control, EVALS),
    live<EndpointDocument>(control, ENDPOINTS),
    control.fleet.look(),
  ]);
  const works = await Promise.all([
    ...runs.map((document) => runView(control, document, evals)),
    ...evals.map((document) => evalView(control, document, evals)),
  ]);
  const views = await Promise.all(endpoints.map((document) => endpointView(control, document)));
  return { works, endpoints: views, containers };
}

function live<T>(control: Control, partition: string): Promise<T[]> {
  return collect<T>((after) => control.store.queryIndex<T>("live", partition, { after, limit: 1000 }));
}

async function runView(
  control: Control,
  document: RunDocument,
  evals: readonly EvalDocument[],
): Promise<WorkView> {
  const { run } = document;
  return {
    kind: "train",
    id: run.id,
    stage: stageOf(run.state),
    isWorking: run.state === "running" || run.state === "saving",
    attempt: run.attempt,
    losses: document.losses,
    preemptions: document.preemptions,
    charges: document.charges,
    maxCostUsd: document.maxCostUsd,
    overBudget: document.overBudget ?? false,
    waitingFor: run.waitingFor,
    retryAtMs: document.retryAtMs,
    cancelAtMs: document.cancelAtMs,
    durationMs: document.durationMs,
    expired: document.expired ?? false,
    pauseAtMs: document.pauseAtMs,
    phase: run.phase,
    progressAtMs: document.progressAtMs,
    stallMs: document.stallMs ?? STALL_MS,
    isStalled: run.stalledSinceMs !== undefined,
    pendingEvals: evals.filter((each) => each.run?.id === run.id).length,
    workingSinceMs: run.startedAtMs === undefined ? undefined : run.startedAtMs + (document.pausedMs ?? 0),
    job: run.attempt === 0 ? undefined : await jobView(control, trainJobId(run.id, run.attempt)),
  };
}

async function evalView(
  control: Control,
  document: EvalDocument,
  all: readonly EvalDocument[],
): Promise<WorkView> {
  const { record, run } = document;
  return {
    kind: "eval",
    id: record.id,
    stage: stageOf(record.state),
    isWorking: record.state === "running",
    attempt: record.attempt,
    losses: document.losses,
    preemptions: document.preemptions,
    retryAtMs: document.retryAtMs,
    cancelAtMs: document.cancelAtMs,
    expired: false,
    // One at a time: where they are slower than the trainer they must not pile up, each with weights in memory.
    waitsForEarlier: all.some(
      (each) => run && each.run?.id === run.id && each.run.label === run.label && each.run.step < run.step,
    ),
    job: record.attempt === 0 ? undefined : await jobView(control, evalJobId(record.id, record.attempt)),
  };
}

function stageOf(state: RunState | EvalState): WorkView["stage"] {
  return state === "queued" || state === "paused" ? state : "active";
}

async function endpointView(control: Control, document: EndpointDocument): Promise<EndpointView> {
  const { endpoint, revisions, retryAtMs } = document;
  const replicas = await Promise.all(
    endpoint.replicas.map(async ({ jobId, state, waitingFor }): Promise<ReplicaView> => {
      const job = await jobView(control, jobId);
      const inFlight = control.fleet.inFlightOn(endpoint.name, { jobId, state });
      return { state, waitingFor, revision: revisions[jobId] ?? 0, inFlight, job };
    }),
  );
  const { name, state, desired, revision, startFailures, expiresAtMs } = endpoint;
  return { name, state, desired, revision, startFailures, retryAtMs, expiresAtMs, replicas };
}

async function jobView(control: Control, id: string): Promise<JobView> {
  const [job, container] = await Promise.all([findJob(control, id), control.containers.describe(id)]);
  return {
    id,
    attempt: job?.attempt ?? 0,
    createdAtMs: job?.createdAtMs,
    startedAtMs: job?.startedAtMs,
    heartbeatAtMs: job?.heartbeatAtMs,
    address: job?.address,
    exit: job?.exit,
    container,
    spot: job?.hardware?.spot,
    maxLifetimeMs: job?.maxLifetimeMs,
    isLeaving: job?.leavingSinceMs !== undefined,
    hasFallbacks: job?.hardware?.fallbacks !== undefined,
  };
}
