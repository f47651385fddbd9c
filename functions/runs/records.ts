import type { Charge, Estimate } from "../../sdk/schema/cost.ts";
import { SpotterError, type Failure } from "../../sdk/schema/errors.ts";
import type { RunEventBody } from "../../sdk/schema/event.ts";
import type { Run, RunDetail } from "../../sdk/schema/run.ts";
import type { RunSpec, Webhook } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import type { NeededConversion } from "../conversions/source.ts";
import { chargesEnded, spendOf } from "../cost/spend.ts";
import type { DocumentKey, IndexEntry } from "../ports/store.ts";
import { update } from "../records/update.ts";
import { isTerminalRun, nextRunState, type RunChange } from "./transitions.ts";

/** A run as stored: the summary people page through, and what only the reconciler needs. */
export interface RunDocument {
  v: 1;
  run: Run;
  /** Attempts that were lost or failed in a way worth another try. */
  losses: number;
  /** Attempts whose spot container was taken back since the run last got to a new checkpoint. */
  preemptions?: number;
  /** Attempts for which there was no room, so that the next took other hardware. */
  withoutRoom?: number;
  /** The step that the current attempt began behind. */
  resumedAtStep?: number;
  /** What its containers cost and when they ran; see `spendOf`. */
  charges?: Charge[];
  /** What was thought when it was launched. */
  estimate?: Estimate;
  /** The run is asked to stop when it has cost this much. */
  maxCostUsd?: number;
  /** The next attempt does not begin before this time. */
  retryAtMs?: number;
  /** The run is asked to stop when it works longer than this. */
  durationMs?: number;
  cancelAtMs?: number;
  pauseAtMs?: number;
  /** Since when it is paused. */
  pausedAtMs?: number;
  /** How long it was paused before; does not count against its time limit. */
  pausedMs?: number;
  /** What has to be converted before its first attempt. */
  converts?: NeededConversion;
  /** When it last got anywhere, and how long it may take until it does again. */
  progressAtMs?: number;
  stallMs?: number;
  /** Whom to tell, and what they have not been told yet. */
  webhooks?: Webhook[];
  deliveries?: Delivery[];
  /** Its metrics go to trackers, and not all of them are there yet. */
  tracked?: boolean;
  /** Being deleted: its parts go first, this document last. */
  deletedAtMs?: number;
  /** Its time was over; this is why it is being cancelled. */
  expired?: boolean;
  /** It cost as much as it may; this is why it is being cancelled. */
  overBudget?: boolean;
  /** Written together with the state; appended to the stream right after, and again by whoever reads it. */
  outbox?: { batchId: string; events: StreamedEvent[] };
}

/** A spec as stored; it never changes. */
export interface RunSpecDocument {
  v: 1;
  spec: RunSpec;
}

/** One thing to tell one address. */
export interface Delivery {
  /** Stays the same however often it is tried. */
  id: string;
  event: Webhook["events"][number];
  url: string;
  secret?: string;
  /** JSON text. */
  body: string;
  tries: number;
  nextAtMs: number;
}

/** An event as it lies in the stream; its seq is the stream's. */
export interface StreamedEvent {
  atMs: number;
  body: RunEventBody;
}

export const RUNS = "runs";

export function runKey(id: string): DocumentKey {
  return { partition: RUNS, sort: id };
}

export function runSpecKey(id: string): DocumentKey {
  return { partition: "run-specs", sort: id };
}

export function runStream(id: string): string {
  return `run/${id}`;
}

export async function findRun(control: Control, id: string): Promise<RunDocument | undefined> {
  return (await control.store.get<RunDocument>(runKey(id)))?.value;
}

export async function getRun(control: Control, id: string): Promise<RunDocument> {
  const document = await findRun(control, id);
  if (document !== undefined && document.deletedAtMs === undefined) return document;
  throw new SpotterError("not_found", `There is no run ${id}.`, {
    where: id,
    hint: "`spotter run list` shows the runs.",
  });
}

export async function getRunSpec(control: Control, id: string): Promise<RunSpec> {
  const document = await control.store.get<RunSpecDocument>(runSpecKey(id));
  if (document === undefined) throw new SpotterError("not_found", `Run ${id} has no spec.`, { where: id });
  return document.value.spec;
}

export async function runDetail(control: Control, id: string): Promise<RunDetail> {
  const document = await getRun(control, id);
  const spec = await getRunSpec(control, id);
  const run = shownRun(document, control.clock.now());
  const { charges, estimate } = document;
  return {
    run,
    spec,
    ...(charges && { charges }),
    ...(estimate && { estimate }),
    url: `${control.config.publicUrl()}/ui/runs/${encodeURIComponent(id)}`,
  };
}

/** A run as people see it: with what it has cost by now. */
export function shownRun({ run, charges }: RunDocument, now: number): Run {
  return charges === undefined ? run : { ...run, spend: spendOf(charges, now) };
}

/** Its container is over: nothing is charged from now on. */
export function uncharged<T extends Pick<RunDocument, "charges">>(document: T, nowMs: number): T {
  const { charges } = document;
  return charges === undefined ? document : { ...document, charges: chargesEnded(charges, nowMs) };
}

export interface RunUpdate {
  document: RunDocument;
  /** Told to whoever follows the run, after the document is written. */
  events?: RunEventBody[];
}

/** The only writer of run documents. `change` returns undefined to leave the run as it is. */
export async function changeRun(
  control: Control,
  id: string,
  change: (current: RunDocument) => RunUpdate | undefined,
): Promise<RunDocument | undefined> {
  const document = await update<RunDocument>(control.store, runKey(id), async (current) => {
    const next = current && change(current.value);
    if (!current || !next) return undefined;
    await flushOutbox(control, current.value);
    const { outbox: _sent, ...rest } = next.document;
    const value: RunDocument = next.events?.length
      ? { ...rest, outbox: outbox(control, current.version + 1, next.events) }
      : rest;
    return { value, indexes: indexesOf(value) };
  });
  await flushOutbox(control, document?.value);
  control.bus.notify(runStream(id));
  const { deliveries, tracked } = document?.value ?? {};
  // A function that looks every minute is not called for each step.
  if (deliveries || (tracked && !control.shared)) control.wakeWebhooks();
  return document?.value;
}

/** Applies a state change and announces it, if it leads to another state. */
export function moved(
  document: RunDocument,
  change: RunChange,
  fields: Partial<Run> = {},
  failure?: Failure,
): RunUpdate {
  const state = nextRunState(document.run.state, change);
  const run: Run = { ...document.run, ...fields, state, ...(failure && { failure }) };
  if (state === document.run.state && run.waitingFor === document.run.waitingFor)
    return { document: { ...document, run } };
  const waiting = run.waitingFor === undefined ? {} : { waitingFor: run.waitingFor };
  const event: RunEventBody = { type: "state", state, ...waiting, ...(failure && { failure }) };
  return { document: { ...document, run }, events: [event] };
}

/** Appends what a document announces. Harmless to repeat: the batch has a name. */
export async function flushOutbox(control: Control, document: RunDocument | undefined): Promise<void> {
  if (document?.outbox === undefined) return;
  const { batchId, events } = document.outbox;
  await control.store.append(runStream(document.run.id), events, { batchId });
}

export function outbox(control: Control, version: number, bodies: RunEventBody[]): RunDocument["outbox"] {
  const atMs = control.clock.now();
  return { batchId: `document-${version}`, events: bodies.map((body) => ({ atMs, body })) };
}

/** An archived run is in the index of those only; one that is being deleted, in no list at all. */
export function indexesOf({ run, deliveries, tracked, deletedAtMs }: RunDocument): IndexEntry[] {
  if (deletedAtMs !== undefined) return [{ index: "deleted", partition: RUNS, sort: run.id }];
  return [
    run.archived
      ? { index: "archived", partition: RUNS, sort: run.id }
      : { index: "run-state", partition: run.state, sort: run.id },
    ...(isTerminalRun(run.state) ? [] : [{ index: "live", partition: RUNS, sort: run.id }]),
    ...(deliveries?.length ? [{ index: "webhooks", partition: RUNS, sort: run.id }] : []),
    ...(tracked ? [{ index: "trackers", partition: RUNS, sort: run.id }] : []),
  ];
}
