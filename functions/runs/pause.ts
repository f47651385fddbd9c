import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { Control } from "../control.ts";
import {
  changeRun,
  getRun,
  moved,
  shownRun,
  uncharged,
  type RunDocument,
  type RunUpdate,
} from "./records.ts";
import { isTerminalRun } from "./transitions.ts";

/** Asks a run to save a checkpoint and let go of its container. One that waits is paused at once. */
export async function pauseRun(control: Control, id: string): Promise<Run> {
  await getRun(control, id);
  const document = await changeRun(control, id, (current) => {
    const { run } = current;
    if (run.state === "paused" || run.pauseRequested) return undefined;
    if (isTerminalRun(run.state))
      throw conflict(run, `is ${run.state}`, "Only a run that goes on can be paused.");
    if (run.cancelRequested)
      throw conflict(run, "is being cancelled", "Continue from its last checkpoint instead.");
    if (run.state === "queued") return paused(control, current);
    return {
      document: { ...current, pauseAtMs: control.clock.now(), run: { ...run, pauseRequested: true } },
    };
  });
  control.wake();
  return shownRun(document ?? (await getRun(control, id)), control.clock.now());
}

/** Lets a paused run go on from its last checkpoint. One that goes on already stays as it is. */
export async function resumeRun(control: Control, id: string): Promise<Run> {
  await getRun(control, id);
  const document = await changeRun(control, id, (current) => {
    const { run } = current;
    if (isTerminalRun(run.state))
      throw conflict(
        run,
        `is ${run.state}`,
        "Launch another run with startFrom to train on from its checkpoint.",
      );
    if (run.cancelRequested)
      throw conflict(run, "is being cancelled", "Continue from its last checkpoint instead.");
    if (run.pauseRequested) throw conflict(run, "has not paused yet", "Try again in a moment.");
    if (run.state !== "paused") return undefined;
    const { pausedAtMs, retryAtMs: _retryAtMs, ...rest } = current;
    const nowMs = control.clock.now();
    // Somebody looked after it: it has all its attempts again.
    const fresh: RunDocument = {
      ...rest,
      losses: 0,
      preemptions: 0,
      pausedMs: (rest.pausedMs ?? 0) + nowMs - (pausedAtMs ?? nowMs),
    };
    return moved(fresh, "resume");
  });
  control.wake();
  return shownRun(document ?? (await getRun(control, id)), control.clock.now());
}

/** A run as it is once it has paused. */
export function paused(control: Control, document: RunDocument): RunUpdate {
  const { pauseAtMs: _pauseAtMs, retryAtMs: _retryAtMs, ...rest } = document;
  const {
    pauseRequested: _pause,
    stalledSinceMs: _stalled,
    failure: _failure,
    phase: _phase,
    ...run
  } = rest.run;
  const nowMs = control.clock.now();
  const next = { ...uncharged(rest, nowMs), run, pausedAtMs: nowMs };
  return moved(next, "pause", { waitingFor: undefined });
}

function conflict(run: Run, what: string, hint: string): SpotterError {
  return new SpotterError("conflict", `The run ${run.id} ${what}.`, { where: run.id, hint });
}
