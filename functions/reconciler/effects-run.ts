import { foreign } from "../engines/engines.ts";
import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import type { Charge } from "../../sdk/schema/cost.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import { hardwareChoice } from "../../sdk/schema/hardware.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { TeacherSpec } from "../../sdk/schema/teacher.ts";
import { lastSoundCheckpoint } from "../checkpoints/sound.ts";
import type { Control } from "../control.ts";
import { cancelRunConversions, hasPendingConversions } from "../conversions/run-conversions.ts";
import { lifetimeMs } from "../cost/lifetime.ts";
import { pricingOf } from "../cost/pricing.ts";
import { chargeBegun, chargeStarted, spendOf } from "../cost/spend.ts";
import { cancelRunEvals, hasPendingEvals } from "../evals/run-evals.ts";
import { trainJobId } from "../jobs/records.ts";
import { nameResult } from "../runs/name-result.ts";
import { paused } from "../runs/pause.ts";
import {
  changeRun,
  findRun,
  getRunSpec,
  moved,
  uncharged,
  type RunDocument,
  type RunUpdate,
} from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { serveTeacher, teacherCharges } from "../teachers/serve.ts";
import { withDeliveries } from "../webhooks/deliveries.ts";
import { listWebhooks } from "../webhooks/every-run.ts";
import { intendJob } from "./effects-job.ts";
import { countedEnd } from "./counted-end.ts";
import { OUTCOME_CHANGES, type Outcome } from "./outcome.ts";
import type { Counts, Limit, WorkKey } from "./views.ts";

export async function beginRunAttempt(control: Control, key: WorkKey): Promise<void> {
  const attempt = key.attempt + 1;
  const { sound, damaged } = await lastSoundCheckpoint(control, key.id);
  const step = sound?.step ?? 0;
  const resume = sound && { resume: sound.id };
  const before = await findRun(control, key.id);
  const { hardware: wanted, teacher, engine } = await getRunSpec(control, key.id);
  const hardware = wanted && hardwareChoice(wanted, before?.withoutRoom ?? 0);
  const price = pricingOf(control).priceOf(hardware);
  const beside = before && (await besideOf(control, before, teacher));
  const maxLifetimeMs = before && lifetimeOf(control, before, price.hourlyUsd, beside);
  const taught = await teacherOf(control, key, teacher);
  if (taught === undefined) return;
  await intendJob(control, {
    id: trainJobId(key.id, attempt),
    kind: "train",
    owner: key.id,
    attempt,
    ...taught,
    ...resume,
    ...(hardware && { hardware }),
    ...foreign(engine),
    price,
    ...(maxLifetimeMs !== undefined && { maxLifetimeMs }),
  });
  await changeCurrent(control, key, (document) => {
    if (document.run.state !== "queued") return undefined;
    const { retryAtMs: _retryAtMs, progressAtMs: _progressAtMs, ...rest } = document;
    const { failure, stalledSinceMs: _stalled, ...run } = rest.run;
    const charges = chargeBegun(rest.charges, { attempt }, price);
    const begun = { ...rest, ...progressed(rest, step), charges, run };
    const update = moved(begun, "begin", { attempt, step, phase: undefined, waitingFor: undefined });
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

/** The endpoint to learn from. A teacher that is gone for good ends the run, for every attempt would miss it. */
async function teacherOf(
  control: Control,
  key: WorkKey,
  teacher: TeacherSpec | undefined,
): Promise<{ endpoint?: string } | undefined> {
  try {
    const endpoint = teacher && (await serveTeacher(control, key.id, teacher));
    return endpoint === undefined ? {} : { endpoint };
  } catch (error) {
    if (!SpotterError.is(error) || error.kind !== "user") throw error;
    const { code, message, hint } = error;
    await finishRun(control, key, "failed", { code, message, ...(hint !== undefined && { hint }) });
    return undefined;
  }
}

/** With a new checkpoint since the last time, its container may be taken back as often again. */
function progressed({ resumedAtStep = 0, preemptions }: RunDocument, step: number): Partial<RunDocument> {
  if (step <= resumedAtStep) return {};
  return { resumedAtStep: step, ...(preemptions !== undefined && { preemptions: 0 }) };
}

/** What one budget pays for beside the containers of the run. */
interface Beside {
  charges: readonly Charge[];
  hourlyUsd: number;
}

async function besideOf(
  control: Control,
  { run }: RunDocument,
  teacher: TeacherSpec | undefined,
): Promise<Beside> {
  const isOwn = teacher?.model !== undefined || teacher?.checkpoint !== undefined;
  const hourlyUsd = isOwn ? pricingOf(control).priceOf(teacher.hardware).hourlyUsd : 0;
  return { charges: await teacherCharges(control, run), hourlyUsd };
}

/** When the home has to end the next container of a run, should nobody be there to ask for it. */
export function lifetimeOf(
  control: Control,
  document: RunDocument,
  hourlyUsd: number,
  beside: Beside = { charges: [], hourlyUsd: 0 },
): number | undefined {
  const { run, durationMs, maxCostUsd, charges = [], pausedMs = 0 } = document;
  const now = control.clock.now();
  const workedMs = run.startedAtMs === undefined ? 0 : now - run.startedAtMs - pausedMs;
  return lifetimeMs({
    longestMs: control.config.maxLifetimeMs,
    leftMs: durationMs === undefined ? undefined : durationMs - workedMs,
    usdLeft:
      maxCostUsd === undefined ? undefined : maxCostUsd - spendOf([...charges, ...beside.charges], now).usd,
    hourlyUsd: hourlyUsd + beside.hourlyUsd,
  });
}

export async function noteRunStarted(control: Control, key: WorkKey): Promise<void> {
  const nowMs = control.clock.now();
  await changeCurrent(control, key, (document) => {
    const charges = chargeStarted(document.charges, { attempt: key.attempt }, nowMs);
    return moved({ ...document, charges }, "start", { waitingFor: undefined });
  });
}

export async function noteRunWorking(control: Control, key: WorkKey): Promise<void> {
  const nowMs = control.clock.now();
  await changeCurrent(control, key, (document) =>
    moved(document, "work", { waitingFor: undefined, startedAtMs: document.run.startedAtMs ?? nowMs }),
  );
}

export async function noteRunWaiting(control: Control, key: WorkKey, waitingFor: string): Promise<void> {
  await changeCurrent(control, key, (document) => {
    if (document.run.state !== "queued") return moved(document, "wait", { waitingFor });
    const { document: waiting, events = [] } = moved(document, "wait", {
      waitingFor,
      phase: "convert-model",
    });
    return { document: waiting, events: [...events, { type: "phase", phase: "convert-model" }] };
  });
}

/** Its time or its money is over: the same as a cancel, but it ends as failed with the code of the limit. */
export async function expireRun(
  control: Control,
  key: WorkKey,
  limit: Limit,
  message: string,
): Promise<void> {
  const cancelAtMs = control.clock.now();
  const why = limit === "time" ? { expired: true } : { overBudget: true };
  await changeCurrent(control, key, (document) => ({
    document: { ...document, ...why, cancelAtMs, run: { ...document.run, cancelRequested: true } },
    events: [{ type: "log", level: "warn", message: `${message} It saves and ends.` }],
  }));
}

export async function requeueRun(
  control: Control,
  key: WorkKey,
  failure: Failure,
  retryAtMs: number,
  counts: Counts,
): Promise<void> {
  const nowMs = control.clock.now();
  await changeCurrent(control, key, (document) => {
    const fields: Partial<Run> = { waitingFor: undefined, phase: undefined, failure };
    const counted = { ...uncharged(document, nowMs), ...countedEnd(document, counts), retryAtMs };
    const update = moved(counted, "requeue", fields);
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
  const isCancelled = (await findRun(control, key.id))?.cancelAtMs !== undefined;
  if (outcome !== "succeeded" || isCancelled) await cancelRunEvals(control, key.id);
  // One was begun after the look that this was decided on.
  else if ((await hasPendingEvals(control, key.id)) || (await hasPendingConversions(control, key.id))) return;
  // What a run has saved before it failed is worth its weights, but not more than the run may take or cost.
  const isOver = failure?.code === "timeout" || failure?.code === "budget_exceeded";
  if (outcome === "cancelled" || isCancelled || isOver) await cancelRunConversions(control, key.id);
  // First, so that the name answers as soon as the run is told to have succeeded.
  const events = outcome === "succeeded" ? await nameResult(control, key.id) : [];
  await changeCurrent(control, key, (document) => {
    const { failure: _earlier, phase: _phase, waitingFor: _waitingFor, ...rest } = document.run;
    const { pauseRequested: _pause, stalledSinceMs: _stalled, ...run } = rest;
    const update = moved(
      { ...uncharged(document, endedAtMs), run },
      OUTCOME_CHANGES[outcome],
      { endedAtMs },
      failure,
    );
    const ended = withDeliveries(control, update.document, "run.ended", everyRun);
    return { ...update, document: ended, events: [...events, ...(update.events ?? [])] };
  });
}

/** What its checkpoints still need is done by others. */
export async function noteRunExited(control: Control, key: WorkKey): Promise<void> {
  const nowMs = control.clock.now();
  await changeCurrent(control, key, (document) => ({ document: uncharged(document, nowMs) }));
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
