import type { Failure } from "../../sdk/schema/errors.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import type { Run } from "../../sdk/schema/run.ts";
import { lastSoundCheckpoint } from "../checkpoints/sound.ts";
import type { Control } from "../control.ts";
import { trainJobId } from "../jobs/records.ts";
import { paused } from "../runs/pause.ts";
import { changeRun, moved, type RunDocument, type RunUpdate } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { withDeliveries } from "../webhooks/deliveries.ts";
import { listWebhooks } from "../webhooks/every-run.ts";
import { intendJob } from "./effects-job.ts";
import { OUTCOME_CHANGES, type Outcome } from "./outcome.ts";
import type { WorkKey } from "./views.ts";

export async function beginRunAttempt(control: Control, key: WorkKey): Promise<void> {
  const attempt = key.attempt + 1;
  const { sound, damaged } = await lastSoundCheckpoint(control, key.id);
  const step = sound?.step ?? 0;
  const resume = sound && { resume: sound.id };
  await intendJob(control, {
    id: trainJobId(key.id, attempt),
    kind: "train",
    owner: key.id,
    attempt,
    ...resume,
  });
  await changeCurrent(control, key, (document) => {
    if (document.run.state !== "queued") return undefined;
    const { retryAtMs: _retryAtMs, progressAtMs: _progressAtMs, ...rest } = document;
    const { failure, stalledSinceMs: _stalled, ...run } = rest.run;
    const update = moved({ ...rest, run }, "begin", { attempt, step, phase: undefined });
    const event: RunEventBody = {
      type: "attempt",
      attempt,
      ...(failure && { reason: `${failure.code}: ${failure.message}` }),
    };
    const from = sound ? `going on from ${sound.id}` : "beginning again";
    const warnings = damaged.map((message): RunEventBody => {
      return { type: "log", level: "warn", message: `${message}; ${from}` };
    });
    return { ...update, events: [event, ...warnings, ...(update.events ?? [])] };
  });
}

export async function noteRunStarted(control: Control, key: WorkKey): Promise<void> {
  await changeCurrent(control, key, (document) => moved(document, "start", { waitingFor: undefined }));
}

export async function noteRunWorking(control: Control, key: WorkKey): Promise<void> {
  const nowMs = control.clock.now();
  await changeCurrent(control, key, (document) =>
    moved(document, "work", { waitingFor: undefined, startedAtMs: document.run.startedAtMs ?? nowMs }),
  );
}

export async function noteRunWaiting(control: Control, key: WorkKey, waitingFor: string): Promise<void> {
  await changeCurrent(control, key, (document) => moved(document, "wait", { waitingFor }));
}

/** Its time is over: the same as a cancel, but it ends as failed with the code `timeout`. */
export async function expireRun(control: Control, key: WorkKey): Promise<void> {
  const cancelAtMs = control.clock.now();
  await changeCurrent(control, key, (document) => ({
    document: { ...document, expired: true, cancelAtMs, run: { ...document.run, cancelRequested: true } },
  }));
}

export async function requeueRun(
  control: Control,
  key: WorkKey,
  failure: Failure,
  retryAtMs: number,
): Promise<void> {
  await changeCurrent(control, key, (document) => {
    const fields: Partial<Run> = { waitingFor: undefined, phase: undefined, failure };
    const update = moved({ ...document, losses: document.losses + 1, retryAtMs }, "requeue", fields);
    const message = `Attempt ${key.attempt} is over (${failure.code}: ${failure.message})`;
    return { ...update, events: [{ type: "log", level: "warn", message }, ...(update.events ?? [])] };
  });
}

export async function finishRun(
  control: Control,
  key: WorkKey,
  outcome: Outcome,
  failure: Failure | undefined,
): Promise<void> {
  const endedAtMs = control.clock.now();
  const everyRun = await listWebhooks(control);
  await changeCurrent(control, key, (document) => {
    const { failure: _earlier, phase: _phase, waitingFor: _waitingFor, ...rest } = document.run;
    const { pauseRequested: _pause, stalledSinceMs: _stalled, ...run } = rest;
    const update = moved({ ...document, run }, OUTCOME_CHANGES[outcome], { endedAtMs }, failure);
    return { ...update, document: withDeliveries(control, update.document, "run.ended", everyRun) };
  });
}

/** Tells people that a run gets nowhere. */
export async function noteRunStalled(
  control: Control,
  key: WorkKey,
  sinceMs: number,
  message: string,
): Promise<void> {
  const everyRun = await listWebhooks(control);
  await changeCurrent(control, key, (document) => {
    if (document.run.stalledSinceMs !== undefined) return undefined;
    const stalled = { ...document, run: { ...document.run, stalledSinceMs: sinceMs } };
    return {
      document: withDeliveries(control, stalled, "run.stalled", everyRun, message),
      events: [{ type: "log", level: "warn", message }],
    };
  });
}

/** Its container has saved and gone, or has had its time to. */
export async function pauseRunNow(control: Control, key: WorkKey): Promise<void> {
  await changeCurrent(control, key, (document) => {
    // Resumed meanwhile: the loss of its container is looked at again.
    if (document.pauseAtMs === undefined) return undefined;
    return paused(control, document);
  });
}

/** Changes a run only while the attempt that the decision was about still owns it. */
async function changeCurrent(
  control: Control,
  key: WorkKey,
  change: (document: RunDocument) => RunUpdate | undefined,
): Promise<void> {
  await changeRun(control, key.id, (document) => {
    const { run } = document;
    return isTerminalRun(run.state) || run.attempt !== key.attempt ? undefined : change(document);
  });
}
