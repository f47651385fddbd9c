import type { Failure } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { fenceJob } from "../jobs/records.ts";
import {
  beginConversionAttempt,
  beginRunConversion,
  finishConversion,
  noteConversionStarted,
  noteConversionWorking,
  requeueConversion,
} from "./effects-conversion.ts";
import {
  addReplica,
  dropReplica,
  endpointStopped,
  expireEndpoint,
  failEndpoint,
  probeReplica,
  replicaLost,
  setReplicaState,
} from "./effects-endpoint.ts";
import { beginEvalAttempt, finishEval, noteEvalWorking, requeueEval } from "./effects-eval.ts";
import { launchJob, noteStarted, withLogTail } from "./effects-job.ts";
import {
  beginRunAttempt,
  expireRun,
  noteRunExited,
  noteRunStalled,
  pauseRunNow,
  finishRun,
  noteRunStarted,
  noteRunWaiting,
  noteRunWorking,
  requeueRun,
} from "./effects-run.ts";
import type { Outcome } from "./outcome.ts";
import type { Action, Counts, WorkKey, WorkKind } from "./views.ts";

interface Effects {
  begin(control: Control, key: WorkKey): Promise<void>;
  started?(control: Control, key: WorkKey): Promise<void>;
  working(control: Control, key: WorkKey): Promise<void>;
  requeue(control: Control, key: WorkKey, failure: Failure, retryAtMs: number, counts: Counts): Promise<void>;
  finish(control: Control, key: WorkKey, outcome: Outcome, failure: Failure | undefined): Promise<void>;
}

const EFFECTS: Record<WorkKind, Effects> = {
  train: {
    begin: beginRunAttempt,
    started: noteRunStarted,
    working: noteRunWorking,
    requeue: requeueRun,
    finish: finishRun,
  },
  eval: { begin: beginEvalAttempt, working: noteEvalWorking, requeue: requeueEval, finish: finishEval },
  convert: {
    begin: beginConversionAttempt,
    started: noteConversionStarted,
    working: noteConversionWorking,
    requeue: requeueConversion,
    finish: finishConversion,
  },
};

/** Time a container has to exit by itself once its last word was heard. */
const EXIT_GRACE_MS = 5_000;

export interface Stops {
  /** Stops a container in the background, once at a time for each. */
  stop(jobId: string, graceMs: number): void;
}

/**
 * Does what was decided. Resolves to whether the world may look different now, so that it is worth looking
 * again at once. Every effect checks that the record still is what the decision was about.
 */
export async function execute(control: Control, stops: Stops, action: Action): Promise<boolean> {
  switch (action.type) {
    case "begin-attempt":
      await EFFECTS[action.work.kind].begin(control, action.work);
      return true;
    case "begin-conversion":
      await beginRunConversion(control, action.work);
      return true;
    case "launch-job":
      return launchJob(control, action.jobId);
    case "note-started":
      // The job last: a crash in between repeats both, and nothing is missed.
      if (action.work) await EFFECTS[action.work.kind].started?.(control, action.work);
      await noteStarted(control, action.jobId);
      return true;
    case "note-working":
      await EFFECTS[action.work.kind].working(control, action.work);
      return true;
    case "note-waiting":
      await noteRunWaiting(control, action.work, action.waitingFor);
      return false;
    case "expire":
      await expireRun(control, action.work, action.limit, action.message);
      return false;
    case "note-exited":
      await noteRunExited(control, action.work);
      return false;
    case "note-stalled":
      await noteRunStalled(control, action.work, action.sinceMs, action.message);
      return false;
    case "pause":
      await fenceJob(control, action.jobId);
      await pauseRunNow(control, action.work);
      stops.stop(action.jobId, EXIT_GRACE_MS);
      return true;
    case "requeue":
    case "finish":
      return endAttempt(control, stops, action);
    case "stop-container":
      stops.stop(action.jobId, action.graceMs);
      return false;
    default:
      return executeForEndpoint(control, stops, action);
  }
}

async function endAttempt(
  control: Control,
  stops: Stops,
  action: Extract<Action, { type: "requeue" | "finish" }>,
): Promise<boolean> {
  const { work, jobId } = action;
  // Fenced first: nothing the old container still says can reach the record of the next attempt.
  if (jobId !== undefined) await fenceJob(control, jobId);
  const failure =
    action.failure && jobId !== undefined
      ? await withLogTail(control, jobId, action.failure)
      : action.failure;
  if (action.type === "finish") {
    await EFFECTS[work.kind].finish(control, work, action.outcome, failure);
  } else if (failure) {
    const { retryAtMs, counts } = action;
    await EFFECTS[work.kind].requeue(control, work, failure, retryAtMs, counts);
  }
  if (jobId !== undefined) stops.stop(jobId, EXIT_GRACE_MS);
  return true;
}

type EndpointAction = Extract<Action, { endpoint: string }>;

async function executeForEndpoint(control: Control, stops: Stops, action: EndpointAction): Promise<boolean> {
  const { endpoint: name } = action;
  switch (action.type) {
    case "add-replica":
      await addReplica(control, name);
      return true;
    case "replica-state":
      await setReplicaState(control, name, action.jobId, action.state, action.waitingFor);
      return false;
    case "probe-replica":
      return probeReplica(control, name, action.jobId, action.address);
    case "drain-replica":
      await setReplicaState(control, name, action.jobId, "draining");
      return true;
    case "stop-replica":
      await fenceJob(control, action.jobId);
      stops.stop(action.jobId, action.graceMs);
      return false;
    case "drop-replica":
      await fenceJob(control, action.jobId);
      await dropReplica(control, name, action.jobId);
      return true;
    case "replica-lost":
    case "fail-endpoint": {
      await fenceJob(control, action.jobId);
      const failure = await withLogTail(control, action.jobId, action.failure);
      if (action.type === "fail-endpoint") await failEndpoint(control, name, action.jobId, failure);
      else await replicaLost(control, name, action.jobId, failure, action.retryAtMs);
      stops.stop(action.jobId, EXIT_GRACE_MS);
      return true;
    }
    case "expire-endpoint":
      await expireEndpoint(control, name);
      return true;
    case "endpoint-stopped":
      await endpointStopped(control, name);
      return true;
  }
}
