import type { Failure } from "../../sdk/schema/errors.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import type { Run } from "../../sdk/schema/run.ts";
import { lastCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { trainJobId } from "../jobs/records.ts";
import { changeRun, moved, type RunDocument, type RunUpdate } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { intendJob } from "./effects-job.ts";
import type { WorkKey } from "./views.ts";

const CHANGES = { succeeded: "succeed", failed: "fail", cancelled: "cancel" } as const;

export async function beginRunAttempt(control: Control, key: WorkKey): Promise<void> {
  const attempt = key.attempt + 1;
  const step = (await lastCheckpoint(control, key.id))?.step ?? 0;
  await intendJob(control, { id: trainJobId(key.id, attempt), kind: "train", owner: key.id, attempt });
  await changeCurrent(control, key, (document) => {
    if (document.run.state !== "queued") return undefined;
    const { retryAtMs: _retryAtMs, ...rest } = document;
    const { failure, ...run } = rest.run;
    const update = moved({ ...rest, run }, "begin", { attempt, step, phase: undefined });
    const event: RunEventBody = {
      type: "attempt",
      attempt,
      ...(failure && { reason: `${failure.code}: ${failure.message}` }),
    };
    return { ...update, events: [event, ...(update.events ?? [])] };
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
  outcome: "succeeded" | "failed" | "cancelled",
  failure: Failure | undefined,
): Promise<void> {
  const endedAtMs = control.clock.now();
  await changeCurrent(control, key, (document) => {
    const { failure: _earlier, phase: _phase, waitingFor: _waitingFor, ...run } = document.run;
    return moved({ ...document, run }, CHANGES[outcome], { endedAtMs }, failure);
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
