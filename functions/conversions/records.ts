import type { ConversionState } from "../../sdk/schema/checkpoint.ts";
import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { DocumentKey, IndexEntry } from "../ports/store.ts";
import { collect, update } from "../records/update.ts";
import { stepKey } from "../records/step-key.ts";
import { hasEnded } from "./transitions.ts";

/** Weights in another format, which a run needs to begin or its checkpoint to be served, and the job that writes them. */
export interface ConversionDocument {
  v: 1;
  id: string;
  runId: string;
  /** The checkpoint whose state gets Hugging Face weights. Absent: what the run starts from, in Megatron's format. */
  step?: number;
  /** Of what, and how; see source.ts. One at a time is made of the same. */
  source: string;
  gpus: number;
  /** Somebody asked for it, beyond what the run does by itself: its limits do not hold for that. */
  isAsked?: boolean;
  state: ConversionState;
  /** Attempts begun so far; they count on when it is asked for again. */
  attempt: number;
  losses: number;
  preemptions?: number;
  withoutRoom?: number;
  retryAtMs?: number;
  cancelAtMs?: number;
  /** When its container last wrote a line. */
  progressAtMs?: number;
  failure?: Failure;
  createdAtMs: number;
  endedAtMs?: number;
}

/** Of the index of those that have not ended. */
export const LIVE_CONVERSIONS = "run-conversions";

/** That of what a run starts from. */
export function modelConversionId(runId: string): string {
  return `${runId}-c-model`;
}

export function checkpointConversionId(runId: string, step: number): string {
  return `${runId}-c-s${stepKey(step)}`;
}

export function conversionPartition(runId: string): string {
  return `run-conversions/${runId}`;
}

export function conversionKey(id: string): DocumentKey {
  const runId = /^(.+)-c-(?:model|s\d+)$/.exec(id)?.[1] ?? "unknown";
  return { partition: conversionPartition(runId), sort: id };
}

export function convertJobId(id: string, attempt: number): string {
  return `convert-${id}-a${attempt}`;
}

export async function findConversion(control: Control, id: string): Promise<ConversionDocument | undefined> {
  return (await control.store.get<ConversionDocument>(conversionKey(id)))?.value;
}

export async function getConversion(control: Control, id: string): Promise<ConversionDocument> {
  const found = await findConversion(control, id);
  if (found !== undefined) return found;
  throw new SpotterError("not_found", `There is no conversion ${id}.`, { where: id });
}

/** The only writer of conversion documents after the first. `change` returns undefined to leave one as it is. */
export async function changeConversion(
  control: Control,
  id: string,
  change: (current: ConversionDocument) => ConversionDocument | undefined,
): Promise<ConversionDocument | undefined> {
  const document = await update<ConversionDocument>(control.store, conversionKey(id), (current) => {
    const next = current && change(current.value);
    return next && { value: next, indexes: conversionIndexes(next) };
  });
  return document?.value;
}

export function conversionIndexes({ id, state }: ConversionDocument): IndexEntry[] {
  return hasEnded(state) ? [] : [{ index: "live", partition: LIVE_CONVERSIONS, sort: id }];
}

export function conversionsOf(control: Control, runId: string): Promise<ConversionDocument[]> {
  return collect<ConversionDocument>((after) =>
    control.store.query<ConversionDocument>(conversionPartition(runId), { after, limit: 500 }),
  );
}
