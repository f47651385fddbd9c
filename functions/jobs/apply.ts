import type { RunEventBody } from "../../sdk/schema/event.ts";
import type { JobEventBody } from "../../sdk/schema/job.ts";
import type { Control } from "../control.ts";
import { changeConversion } from "../conversions/records.ts";
import { hasEnded } from "../conversions/transitions.ts";
import { changeEval } from "../evals/records.ts";
import { isTerminalEval, nextEvalState } from "../evals/transitions.ts";
import { latestMetrics } from "../runs/latest-metrics.ts";
import { changeRun, moved, type RunDocument, type RunUpdate } from "../runs/records.ts";
import { boundedFailure } from "../records/bounded-failure.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { changeJob, type JobRecord } from "./records.ts";

/** Carries reports over into the records. Doing it twice gives the same records. */
export async function applyEvents(
  control: Control,
  job: JobRecord,
  bodies: readonly JobEventBody[],
  done: number | undefined,
): Promise<void> {
  if (job.kind === "train") await applyToRun(control, job, runEvents(bodies));
  if (job.kind === "eval") await applyToEval(control, job, bodies, done);
  if (job.kind === "convert" && bodies.some(({ type }) => type === "log"))
    await changeConversion(control, job.owner, (current) =>
      hasEnded(current.state) || current.attempt !== job.attempt
        ? undefined
        : { ...current, progressAtMs: control.clock.now() },
    );
  for (const body of bodies) {
    if (body.type === "log" && body.level !== "debug")
      control.log[body.level](body.message, { jobId: job.id });
    if (body.type === "ready")
      await changeJob(control, job.id, (current) => ({ ...current, address: body.address }));
    if (body.type === "exit") {
      const failure = body.failure && boundedFailure(body.failure);
      const exit = { outcome: body.outcome, ...(failure && { failure }) };
      await changeJob(control, job.id, (current) => ({ ...current, exit }));
    }
  }
  if (bodies.some(({ type }) => type === "ready" || type === "exit")) control.wake();
}

function runEvents(bodies: readonly JobEventBody[]): RunEventBody[] {
  return bodies.flatMap((body) => (body.type === "run" ? [body.event] : []));
}

async function applyToRun(control: Control, job: JobRecord, events: readonly RunEventBody[]): Promise<void> {
  if (events.length === 0) return;
  let steps = 0;
  const changed = await changeRun(control, job.owner, (current) => {
    // Set anew by each try; reports that come twice bring no step.
    steps = 0;
    if (isTerminalRun(current.run.state) || current.run.attempt !== job.attempt) return undefined;
    let document = current;
    const announced: RunEventBody[] = [];
    for (const event of events) {
      const update = applyOne(document, event);
      document = update.document;
      announced.push(...(update.events ?? []));
    }
    steps = Math.max(0, document.run.step - current.run.step);
    const { stalledSinceMs: _stalled, ...run } = document.run;
    return { document: { ...document, run, progressAtMs: control.clock.now() }, events: announced };
  });
  if (changed !== undefined && steps > 0) control.tally.runSteps(changed.run.kind, steps);
}

function applyOne(document: RunDocument, event: RunEventBody): RunUpdate {
  const { run } = document;
  switch (event.type) {
    case "phase": {
      const isLast =
        event.phase === "save-checkpoint" &&
        (run.step >= run.steps || run.cancelRequested || run.pauseRequested === true);
      return moved(document, isLast ? "save" : "work", { phase: event.phase, waitingFor: undefined });
    }
    case "metrics": {
      const { step, metrics, late = false } = event;
      const latest = latestMetrics(run.metrics, metrics, late);
      const told = late ? { metrics: latest } : { step, metrics: latest };
      return { document: { ...document, run: { ...run, ...told } } };
    }
    case "state":
    case "rollouts":
    case "checkpoint":
    case "log":
    case "attempt":
      return { document };
  }
}

async function applyToEval(
  control: Control,
  job: JobRecord,
  bodies: readonly JobEventBody[],
  done: number | undefined,
): Promise<void> {
  const total = bodies.findLast((body) => body.type === "eval-rows")?.total;
  if (total === undefined) return;
  await changeEval(control, job.owner, (current) => {
    const { record } = current;
    if (isTerminalEval(record.state) || record.attempt !== job.attempt) return undefined;
    const state = nextEvalState(record.state, "work");
    return { ...current, record: { ...record, state, total, done: Math.max(record.done, done ?? 0) } };
  });
}
