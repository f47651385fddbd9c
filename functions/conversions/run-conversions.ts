import type { Control } from "../control.ts";
import { keptUnder } from "../jobs/conversions.ts";
import { jobKey } from "../jobs/records.ts";
import { putFirst } from "../records/update.ts";
import {
  changeConversion,
  conversionIndexes,
  conversionKey,
  conversionsOf,
  convertJobId,
  modelConversionId,
  type ConversionDocument,
} from "./records.ts";
import type { NeededConversion } from "./source.ts";
import { nextConversionState } from "./transitions.ts";

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
  await changeConversion(control, id, (current) => {
    // Its run was paused, and goes on.
    if (current.state !== "cancelled") return undefined;
    const { failure: _failure, endedAtMs: _ended, retryAtMs: _retryAtMs, ...rest } = current;
    return { ...rest, losses: 0, preemptions: 0, state: nextConversionState(current.state, "again") };
  });
}

/** Removes everything of them, with their run. */
export async function removeRunConversions(control: Control, runId: string): Promise<void> {
  for (const { id, attempt } of await conversionsOf(control, runId)) {
    for (let number = 1; number <= attempt; number++) {
      const jobId = convertJobId(id, number);
      await control.containers.forget(jobId);
      for (const { key } of (await control.store.query(`uploads/${jobId}`)).items)
        await control.store.delete(key);
      await control.store.delete(jobKey(jobId));
    }
    await control.store.delete(conversionKey(id));
  }
}
