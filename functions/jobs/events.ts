import { SpotterError } from "../../sdk/schema/errors.ts";
import type { JobEventBody } from "../../sdk/schema/job.ts";
import type { Control } from "../control.ts";
import { getConversion } from "../conversions/records.ts";
import { getEval, streamOf } from "../evals/records.ts";
import { cut } from "../records/bounded-failure.ts";
import { redacted } from "../secrets/redacted.ts";
import { findRun, flushOutbox, runStream, type StreamedEvent } from "../runs/records.ts";
import { applyEvents } from "./apply.ts";
import { changeJob, liveJob, staleAttempt, type JobRecord } from "./records.ts";

/** Characters of one log message that people get to see. */
const MAX_LOG_MESSAGE = 16_000;

export interface SequencedEvent {
  seq: number;
  body: JobEventBody;
}

/**
 * Stores what a container reports, exactly once, and then acts on it. Resolves to the highest stored seq.
 *
 * Each batch is written down by its bounds before it is appended. A container that got no answer sends the
 * same events again, perhaps with more behind them: those within the bounds complete the old batch under its
 * old name, which the Store knows not to repeat, and only the rest makes a new one.
 */
export async function receiveEvents(
  control: Control,
  jobId: string,
  attempt: number,
  events: readonly SequencedEvent[],
): Promise<number> {
  const job = await liveJob(control, jobId, attempt);
  events = redacted(control.secrets, events);
  const { batch } = job;
  const again = batch ? events.filter(({ seq }) => seq >= batch.first && seq <= batch.last) : [];
  const isWhole = batch !== undefined && again.length === batch.last - batch.first + 1;
  if (isWhole) await store(control, job, batch, again);
  const stored = batch === undefined ? 0 : batch.last;
  const fresh = events.filter(({ seq }) => seq > stored);
  const first = fresh[0]?.seq;
  if (first === undefined) return isWhole ? stored : (batch?.first ?? 1) - 1;
  const bounds = { first, last: first + fresh.length - 1 };
  checkOrder(fresh, stored + 1);
  const changed = await changeJob(control, jobId, (current) =>
    current.fenced || (current.batch?.last ?? 0) !== stored ? undefined : { ...current, batch: bounds },
  );
  if (changed === undefined || changed.fenced) throw staleAttempt(jobId);
  // Two requests of one container crossed: the other one's batch may still be on its way into the stream.
  if (changed.batch?.first !== first || changed.batch.last !== bounds.last)
    return (changed.batch?.first ?? 1) - 1;
  await store(control, job, bounds, fresh);
  return bounds.last;
}

/** A gap would lose events for good: what comes behind it counts as if everything before had been stored. */
function checkOrder(events: readonly SequencedEvent[], expected: number): void {
  const wrong = events.findIndex(({ seq }, index) => seq !== expected + index);
  if (wrong === -1) return;
  throw new SpotterError(
    "invalid_input",
    `Events are numbered without gaps: ${expected + wrong} comes next, not ${events[wrong]?.seq}.`,
    { where: `events.${wrong}.seq`, hint: "Send everything again from the last acknowledged event on." },
  );
}

async function store(
  control: Control,
  job: JobRecord,
  bounds: { first: number; last: number },
  events: readonly SequencedEvent[],
): Promise<void> {
  let done: number | undefined;
  const batchId = `a${job.attempt}-${bounds.first}-${bounds.last}`;
  if (job.kind === "train" || job.kind === "convert") {
    const isOwn = job.kind === "train";
    const runId = isOwn ? job.owner : (await getConversion(control, job.owner)).runId;
    // What the run itself has to tell came before: after a crash it may not be in the stream yet.
    await flushOutbox(control, await findRun(control, runId));
    // How far the run is, only its own container can tell.
    const told = isOwn ? events : events.filter(({ body }) => body.type === "log");
    const entries = told.flatMap(({ body }) => streamed(control.clock.now(), body));
    const name = isOwn ? batchId : `${job.owner}-${batchId}`;
    if (entries.length > 0) await control.store.append(runStream(runId), entries, { batchId: name });
    control.bus.notify(runStream(runId));
  } else if (job.kind === "eval") {
    const rows = events.flatMap(({ body }) => (body.type === "eval-rows" ? body.rows : []));
    if (rows.length > 0)
      done = await control.store.append(streamOf(await getEval(control, job.owner)), rows, { batchId });
  }
  await applyEvents(
    control,
    job,
    events.map(({ body }) => body),
    done,
  );
}

/** What followers of a run see of a container's report. Its state is the control plane's to tell. */
function streamed(atMs: number, body: JobEventBody): StreamedEvent[] {
  if (body.type === "log") return [{ atMs, body: { ...body, message: cut(body.message, MAX_LOG_MESSAGE) } }];
  return body.type === "run" && body.event.type !== "state" ? [{ atMs, body: body.event }] : [];
}
