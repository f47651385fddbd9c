import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import { hardwareChoice } from "../../sdk/schema/hardware.ts";
import { findStoredCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import {
  changeConversion,
  convertJobId,
  getConversion,
  findConversion,
  type ConversionDocument,
} from "../conversions/records.ts";
import { beginModelConversion, removePartialWeights } from "../conversions/run-conversions.ts";
import { conversionHardware } from "../conversions/source.ts";
import { hasEnded, nextConversionState } from "../conversions/transitions.ts";
import { pricingOf } from "../cost/pricing.ts";
import { chargeBegun, chargesEnded, chargeStarted } from "../cost/spend.ts";
import { foreign } from "../engines/engines.ts";
import { keptUnder } from "../jobs/conversions.ts";
import { changeRun, findRun, flushOutbox, getRunSpec, runStream, type RunDocument } from "../runs/records.ts";
import { countedEnd } from "./counted-end.ts";
import { intendJob } from "./effects-job.ts";
import { lifetimeOf } from "./effects-run.ts";
import { OUTCOME_CHANGES, type Outcome } from "./outcome.ts";
import type { Counts, WorkKey } from "./views.ts";

/** A run cannot begin before its weights are converted. */
export async function beginRunConversion(control: Control, { id }: WorkKey): Promise<void> {
  const converts = (await findRun(control, id))?.converts;
  if (converts !== undefined) await beginModelConversion(control, id, converts);
}

export async function beginConversionAttempt(control: Control, key: WorkKey): Promise<void> {
  const conversion = await getConversion(control, key.id);
  const { runId, gpus, withoutRoom = 0, isAsked = false } = conversion;
  if (await isMade(control, conversion))
    return await changeCurrent(control, key, (document) => ended(control, document, "succeed"));
  const attempt = key.attempt + 1;
  const spec = await getRunSpec(control, runId);
  const hardware = conversionHardware(spec.hardware && hardwareChoice(spec.hardware, withoutRoom), gpus);
  const price = pricingOf(control).priceOf(hardware);
  const run = await findRun(control, runId);
  // Whoever asks for it knows that the run's own time and money may be over.
  const maxLifetimeMs = isAsked
    ? control.config.maxLifetimeMs
    : run && lifetimeOf(control, run, price.hourlyUsd);
  await intendJob(control, {
    id: convertJobId(key.id, attempt),
    kind: "convert",
    owner: key.id,
    attempt,
    ...(hardware && { hardware }),
    ...foreign(spec.engine),
    price,
    ...(maxLifetimeMs !== undefined && { maxLifetimeMs }),
  });
  await charge(control, runId, (charges) => chargeBegun(charges, { attempt, conversion: key.id }, price));
  await changeCurrent(control, key, (document) => {
    if (document.state !== "queued") return undefined;
    const { retryAtMs: _retryAtMs, progressAtMs: _progressAtMs, failure: _failure, ...rest } = document;
    return { ...rest, attempt, state: nextConversionState(document.state, "begin") };
  });
}

export async function noteConversionStarted(control: Control, { id, attempt }: WorkKey): Promise<void> {
  const { runId } = await getConversion(control, id);
  const nowMs = control.clock.now();
  await charge(control, runId, (charges) => chargeStarted(charges, { attempt, conversion: id }, nowMs));
}

export async function noteConversionWorking(control: Control, key: WorkKey): Promise<void> {
  await changeCurrent(control, key, (document) => ({
    ...document,
    state: nextConversionState(document.state, "work"),
  }));
}

export async function requeueConversion(
  control: Control,
  key: WorkKey,
  failure: Failure,
  retryAtMs: number,
  counts: Counts,
): Promise<void> {
  const conversion = await getConversion(control, key.id);
  const { runId } = conversion;
  await uncharge(control, runId, key);
  await removePartialWeights(control, conversion);
  const message = `Attempt ${key.attempt} of the conversion is over (${failure.code}: ${failure.message})`;
  await tell(control, runId, key, { type: "log", level: "warn", message });
  await changeCurrent(control, key, (document) => ({
    ...document,
    ...countedEnd(document, counts),
    retryAtMs,
    failure,
    state: nextConversionState(document.state, "requeue"),
  }));
}

export async function finishConversion(
  control: Control,
  key: WorkKey,
  outcome: Outcome,
  failure: Failure | undefined,
): Promise<void> {
  const before = await findConversion(control, key.id);
  if (before === undefined || hasEnded(before.state)) return;
  await uncharge(control, before.runId, key);
  // However its container ended: one may be lost right after it has stored everything.
  const made = outcome !== "cancelled" && (await isMade(control, before));
  if (!made) await removePartialWeights(control, before);
  const unmade = outcome === "succeeded" ? UNMADE : failure;
  const why = made ? undefined : unmade && conversionFailure(before, unmade);
  const change = made ? "succeed" : why === undefined ? OUTCOME_CHANGES[outcome] : "fail";
  if (before.step !== undefined && change !== "cancel")
    await tell(control, before.runId, key, newsOf(`${before.runId}@${before.step}`, why));
  await changeCurrent(control, key, (document) => ended(control, document, change, why));
}

/** Whether what it is for is there, whoever made it. */
async function isMade(control: Control, { runId, step, source }: ConversionDocument): Promise<boolean> {
  if (step === undefined) return keptUnder(control, source);
  const checkpoint = await findStoredCheckpoint(control, `${runId}@${step}`);
  return checkpoint !== undefined && hasWeights(checkpoint);
}

const UNMADE: Failure = { code: "engine_failed", message: "It ended well, and nothing of it is there." };

/** Whatever ended it: this is what its run or its checkpoint has to do without. */
function conversionFailure({ runId, step, attempt }: ConversionDocument, failure: Failure): Failure {
  const { code, message, ...rest } = failure;
  const what =
    step === undefined
      ? "The weights could not be converted to Megatron's format"
      : `Checkpoint ${runId}@${step} could not be converted to Hugging Face's format`;
  const often = attempt > 1 ? ` after ${attempt} attempts` : "";
  return { ...rest, code: "conversion_failed", message: `${what}${often} (${code}: ${message})` };
}

function newsOf(id: string, failure: Failure | undefined): RunEventBody {
  if (failure === undefined)
    return { type: "log", level: "info", message: `Checkpoint ${id} has its Hugging Face weights.` };
  const message = `${failure.message}. It is kept; try again: spotter checkpoint convert ${id}`;
  return { type: "log", level: "warn", message };
}

function ended(
  control: Control,
  document: ConversionDocument,
  change: "succeed" | "fail" | "cancel",
  failure?: Failure,
): ConversionDocument {
  const { failure: _earlier, retryAtMs: _retryAtMs, ...rest } = document;
  const state = nextConversionState(document.state, change);
  return { ...rest, state, endedAtMs: control.clock.now(), ...(failure && { failure }) };
}

/** Changes a conversion only while the attempt that the decision was about still owns it. */
async function changeCurrent(
  control: Control,
  key: WorkKey,
  change: (document: ConversionDocument) => ConversionDocument | undefined,
): Promise<void> {
  await changeConversion(control, key.id, (document) =>
    hasEnded(document.state) || document.attempt !== key.attempt ? undefined : change(document),
  );
}

/** What it costs is its run's. */
async function charge(
  control: Control,
  runId: string,
  change: (charges: RunDocument["charges"]) => RunDocument["charges"],
): Promise<void> {
  await changeRun(control, runId, (document) => {
    const charges = change(document.charges);
    return charges && { document: { ...document, charges } };
  });
}

/** Ends the charge of the attempt that a decision was about, however late it comes. */
function uncharge(control: Control, runId: string, { id: conversion, attempt }: WorkKey): Promise<void> {
  const nowMs = control.clock.now();
  return charge(
    control,
    runId,
    (charges) => charges && chargesEnded(charges, nowMs, { attempt, conversion }),
  );
}

/** Once, however often a crash has it told. */
async function tell(control: Control, runId: string, key: WorkKey, body: RunEventBody): Promise<void> {
  await flushOutbox(control, await findRun(control, runId));
  const event = { atMs: control.clock.now(), body };
  await control.store.append(runStream(runId), [event], { batchId: `${key.id}-a${key.attempt}-over` });
  control.bus.notify(runStream(runId));
}
