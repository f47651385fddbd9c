import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { checkpointPrefix, findStoredCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { keptUnder } from "../jobs/conversions.ts";
import { jobKey } from "../jobs/records.ts";
import { removePartition } from "../records/remove-partition.ts";
import { putFirst } from "../records/update.ts";
import {
  changeConversion,
  checkpointConversionId,
  conversionIndexes,
  conversionKey,
  conversionsOf,
  convertJobId,
  modelConversionId,
  type ConversionDocument,
} from "./records.ts";
import type { NeededConversion } from "./source.ts";
import { hasEnded, nextConversionState } from "./transitions.ts";

/** Writes down that a run needs its weights converted, or that they are kept from before. Twice is harmless. */
export async function beginModelConversion(
  control: Control,
  runId: string,
  { source, gpus }: NeededConversion,
): Promise<void> {
  const id = modelConversionId(runId);
  const createdAtMs = control.clock.now();
  const state = (await keptUnder(control, source)) ? "succeeded" : "queued";
  const first: ConversionDocument = {
    ...{ v: 1, id, runId, source, gpus, state },
    ...{ attempt: 0, losses: 0, createdAtMs },
  };
  await putFirst(control.store, conversionKey(id), first, conversionIndexes(first));
  // Its run was paused, and goes on.
  await changeConversion(control, id, (current) =>
    current.state === "cancelled" ? again(current) : undefined,
  );
}

/** Writes down that a checkpoint without Hugging Face weights is to get them, again where that has failed. */
export async function beginCheckpointConversion(
  control: Control,
  { runId, step }: Pick<Checkpoint, "runId" | "step">,
  isAsked = false,
): Promise<void> {
  const id = checkpointConversionId(runId, step);
  const first: ConversionDocument = {
    ...{ v: 1, id, runId, step, source: `checkpoints of ${runId}`, gpus: 1, state: "queued" },
    ...{ attempt: 0, losses: 0, createdAtMs: control.clock.now() },
  };
  await putFirst(control.store, conversionKey(id), first, conversionIndexes(first));
  await changeConversion(control, id, (current) => {
    const next = hasEnded(current.state) ? again(current) : current;
    return isAsked && next.isAsked !== true ? { ...next, isAsked } : next === current ? undefined : next;
  });
  control.wake();
}

/** It has all its attempts again; they are numbered on. */
function again(document: ConversionDocument): ConversionDocument {
  const {
    failure: _failure,
    endedAtMs: _ended,
    retryAtMs: _retryAtMs,
    cancelAtMs: _cancel,
    ...rest
  } = document;
  return { ...rest, losses: 0, preemptions: 0, state: nextConversionState(document.state, "again") };
}

/** Ends what a run that is cancelled, or has come to a limit, still has converted. */
export async function cancelRunConversions(control: Control, runId: string): Promise<void> {
  const cancelAtMs = control.clock.now();
  for (const { id } of await conversionsOf(control, runId))
    await changeConversion(control, id, (current) =>
      hasEnded(current.state) || current.cancelAtMs !== undefined ? undefined : { ...current, cancelAtMs },
    );
}

export async function hasPendingConversions(control: Control, runId: string): Promise<boolean> {
  return (await conversionsOf(control, runId)).some(({ state }) => !hasEnded(state));
}

/** Removes what an attempt that is over has stored of a checkpoint's weights: the next one may name its files otherwise. */
export async function removePartialWeights(
  control: Control,
  { runId, step }: ConversionDocument,
): Promise<void> {
  const checkpoint = step === undefined ? undefined : await findStoredCheckpoint(control, `${runId}@${step}`);
  if (checkpoint === undefined || hasWeights(checkpoint)) return;
  const prefix = checkpointPrefix(runId, checkpoint.step, checkpoint.attempt);
  for (const { key } of await control.blobs.list(`${prefix}/model/`)) await control.blobs.delete(key);
}

/** Removes everything of them, with their run. */
export async function removeRunConversions(control: Control, runId: string): Promise<void> {
  for (const { id, attempt } of await conversionsOf(control, runId)) {
    for (let number = 1; number <= attempt; number++) {
      const jobId = convertJobId(id, number);
      await control.containers.forget(jobId);
      await removePartition(control, `uploads/${jobId}`);
      await control.store.delete(jobKey(jobId));
    }
    await control.store.delete(conversionKey(id));
  }
}
