import type { ConversionState } from "../../sdk/schema/checkpoint.ts";
import type { RunState } from "../../sdk/schema/run.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { findStoredCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import {
  convertJobId,
  findConversion,
  LIVE_CONVERSIONS,
  modelConversionId,
  type ConversionDocument,
} from "../conversions/records.ts";
import { ENDPOINTS, type EndpointDocument } from "../endpoints/records.ts";
import { EVALS, type EvalDocument } from "../evals/records.ts";
import { evalJobId, findJob, trainJobId } from "../jobs/records.ts";
import { collect } from "../records/update.ts";
import { RUNS, type RunDocument } from "../runs/records.ts";
import { teacherCharges } from "../teachers/serve.ts";
import type { EndpointView, JobView, ReplicaView, WorkView, World } from "./views.ts";

/** A step of a large model on a small machine takes minutes; half an hour without a word is not normal. */
const STALL_MS = 30 * 60_000;

/** Reads everything that is not settled, and what its containers do. */
export async function observe(control: Control): Promise<World> {
  // First the containers: one that is launched after this has its record by the time records are read.
  const containers = await control.containers.list();
  const [runs, evals, conversions, endpoints] = await Promise.all([
    live<RunDocument>(control, RUNS),
    live<EvalDocument>(control, EVALS),
    live<ConversionDocument>(control, LIVE_CONVERSIONS),
    live<EndpointDocument>(control, ENDPOINTS),
    control.fleet.look(),
  ]);
  const works = await Promise.all([
    ...runs.map((document) => runView(control, document, { evals, conversions })),
    ...evals.map((document) => evalView(control, document, evals)),
    ...conversions.map((document) => conversionView(control, document, conversions, runs)),
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
  live: { evals: readonly EvalDocument[]; conversions: readonly ConversionDocument[] },
): Promise<WorkView> {
  const { run } = document;
  const evals = live.evals.filter((each) => each.run?.id === run.id);
  const ofCheckpoints = live.conversions.filter(({ runId, step }) => runId === run.id && step !== undefined);
  return {
    kind: "train",
    id: run.id,
    stage: stageOf(run.state),
    isWorking: run.state === "running" || run.state === "saving",
    attempt: run.attempt,
    losses: document.losses,
    preemptions: document.preemptions,
    charges: document.charges,
    ...(document.maxCostUsd !== undefined && { teacherCharges: await teacherCharges(control, run) }),
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
    ...(needsConversion(document) && { conversion: await runConversion(control, run.id) }),
    pending: evals.length + ofCheckpoints.length,
    isConverting: ofCheckpoints.length > 0,
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

/** A run that has not begun yet, and cannot before its weights are converted. */
function needsConversion({ run, converts, cancelAtMs }: RunDocument): boolean {
  return converts !== undefined && run.state === "queued" && run.attempt === 0 && cancelAtMs === undefined;
}

async function runConversion(control: Control, runId: string): Promise<WorkView["conversion"]> {
  const found = await findConversion(control, modelConversionId(runId));
  switch (found?.state) {
    case "succeeded":
      return undefined;
    case undefined:
    case "cancelled":
      return { state: "missing" };
    case "failed":
      return { state: "failed", failure: found.failure ?? UNKNOWN };
    default:
      return { state: "pending" };
  }
}

const UNKNOWN: Failure = { code: "conversion_failed", message: "The weights could not be converted." };

async function conversionView(
  control: Control,
  document: ConversionDocument,
  all: readonly ConversionDocument[],
  runs: readonly RunDocument[],
): Promise<WorkView> {
  const { id, runId, step, source, state, attempt } = document;
  const owner = runs.find(({ run }) => run.id === runId);
  return {
    kind: "convert",
    id,
    stage: stageOf(state),
    isWorking: state === "running",
    attempt,
    losses: document.losses,
    preemptions: document.preemptions,
    retryAtMs: document.retryAtMs,
    expired: false,
    isUnwanted:
      step === undefined
        ? owner === undefined || !needsConversion(owner)
        : document.cancelAtMs !== undefined || (await isGone(control, `${runId}@${step}`)),
    // What comes of it is for both, or they would pile up. Of two that have not begun, the one of the earlier run or
    // step does it.
    waitsForEarlier: all.some(
      (each) =>
        each.source === source && each.id !== id && (stageOf(each.state) === "active" || each.id < id),
    ),
    progressAtMs: document.progressAtMs,
    stallMs: owner?.stallMs ?? STALL_MS,
    // Its log tells it well enough; it is given up after twice as long.
    isStalled: true,
    job: attempt === 0 ? undefined : await jobView(control, convertJobId(id, attempt)),
  };
}

async function isGone(control: Control, checkpoint: string): Promise<boolean> {
  const found = await findStoredCheckpoint(control, checkpoint);
  return found === undefined || found.damage !== undefined;
}

function stageOf(state: RunState | ConversionState): WorkView["stage"] {
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
