import type { Control } from "../control.ts";
import { findEval } from "../evals/records.ts";
import { findRun } from "../runs/records.ts";
import { changeJob, liveJob, type JobRecord } from "./records.ts";

/** Notes that a container lives, by this side's clock, and tells it whether to stop. */
export async function heartbeat(control: Control, id: string, attempt: number): Promise<{ cancel: boolean }> {
  const before = await liveJob(control, id, attempt);
  await changeJob(control, id, (job) =>
    job.fenced ? undefined : { ...job, heartbeatAtMs: control.clock.now() },
  );
  if (before.heartbeatAtMs === undefined) control.wake();
  return { cancel: await isCancelled(control, before) };
}

async function isCancelled(control: Control, job: JobRecord): Promise<boolean> {
  if (job.kind === "train") {
    const run = (await findRun(control, job.owner))?.run;
    // Paused or cancelled is the same to a container: save, and go.
    return run === undefined || run.cancelRequested || run.pauseRequested === true;
  }
  if (job.kind === "eval") return (await findEval(control, job.owner))?.cancelAtMs !== undefined;
  return false;
}
