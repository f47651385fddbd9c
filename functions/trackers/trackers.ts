import type { RunEvent, RunEventBody, RunEventPage } from "../../sdk/schema/event.ts";
import type { Tracker } from "../../sdk/schema/tracker.ts";
import type { Control } from "../control.ts";
import { readRunEvents } from "../events/run-events.ts";
import { collect } from "../records/update.ts";
import { createWorkLoop, type WorkLoop } from "../records/work-loop.ts";
import { changeRun, getRun, getRunSpec, RUNS, runStream, type RunDocument } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";
import { redacted } from "../secrets/redacted.ts";
import { cursorKey, NEW_CURSOR, type TrackerCursor } from "./cursor.ts";
import { rowsOf } from "./rows.ts";
import { nameOf, sinkOf } from "./sinks.ts";
import type { TrackerHttp } from "./tracker-http.ts";
import { TrackerRefusal, type TrackerSink } from "./tracker-sink.ts";

/** Tells trackers what there is to tell, soon after each wake. */
export type Trackers = Omit<WorkLoop, "isBusy" | "isClosed">;

/** Steps that follow each other closely are told together. */
const AGAIN_MS = 1_000;
const BASE_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** A tracker that is away for less is not worth a word. */
const TRIES_UNTOLD = 3;
/** Of a run that has ended: a good hour. While it goes on there is always another try. */
const MAX_TRIES = 20;
const PARALLEL = 8;
const AGAIN_AFTER_FAULT_MS = 30_000;

interface Work {
  document: RunDocument;
  index: number;
  tracker: Tracker;
}

/**
 * Reads the events of runs and tells trackers what is in them, apart from the runs: a tracker that is slow, away or
 * refuses holds nobody up. How far each was told is written down when it was; what a kill leaves untold or twice told
 * is put right by the tracker's own means.
 */
export function createTrackers(control: Control, http: TrackerHttp): Trackers {
  /** Cursors that this process has written: nothing behind them was sent. */
  const sure = new Set<string>();
  const loop = createWorkLoop(control.clock, pass, (error) => {
    control.log.error("trackers could not be looked at", { error });
    return AGAIN_AFTER_FAULT_MS;
  });

  /** Tells what is due. Resolves to the time until something is again, if that is known. */
  async function pass(): Promise<number | undefined> {
    const documents = await collect<RunDocument>((after) =>
      control.store.queryIndex<RunDocument>("trackers", RUNS, { after, limit: 1_000 }),
    );
    const all: Work[] = [];
    for (const document of documents) {
      const { trackers = [] } = await getRunSpec(control, document.run.id);
      all.push(...trackers.map((tracker, index) => ({ document, index, tracker })));
    }
    const times: number[] = [];
    const work = async (): Promise<void> => {
      for (let next = all.shift(); next !== undefined && !loop.isClosed; next = all.shift()) {
        const atMs = await advance(next);
        if (atMs !== undefined) times.push(atMs);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    for (const { run } of documents) await release(run.id);
    return times.length === 0 ? undefined : Math.max(1, Math.min(...times) - control.clock.now());
  }

  /** Resolves to when it is to be told again, without further news. */
  async function advance(work: Work): Promise<number | undefined> {
    const { id } = work.document.run;
    const key = cursorKey(id, work.index);
    let cursor = (await control.store.get<TrackerCursor>(key))?.value ?? NEW_CURSOR;
    for (;;) {
      if (cursor.done) return undefined;
      if (cursor.nextAtMs > control.clock.now()) return cursor.nextAtMs;
      const from = cursor;
      const next = await tell(work, from).catch((error: unknown) => failed(work, from, error));
      if (next === undefined) return undefined;
      await control.store.put(key, next);
      // Where the control plane is several processes, another one may tell the next rows.
      if (next.tries === 0 && !next.done && !control.shared) sure.add(`${id}/${work.index}`);
      else sure.delete(`${id}/${work.index}`);
      cursor = next;
    }
  }

  /** The cursor behind what was told; undefined where there was nothing to tell. */
  async function tell(work: Work, cursor: TrackerCursor): Promise<TrackerCursor | undefined> {
    const { run } = work.document;
    const sink = await sinkOf(control, work.tracker, http);
    if (cursor.place === undefined) return begin(work, sink, cursor);
    const page = await readNews(run.id, cursor.told.seq);
    const { rows, told } = rowsOf(cursor.told, page.events, { merges: sink.merges, isEnded: page.done });
    const nowMs = control.clock.now();
    if (rows.length === 0 && !page.done)
      return told.seq === cursor.told.seq ? undefined : { ...cursor, told, tries: 0, nextAtMs: nowMs };
    const isSure = sure.has(`${run.id}/${work.index}`);
    const place =
      rows.length === 0 ? cursor.place : await sink.add(cursor.place, rows, cursor.told, told, isSure);
    // What was told is gone: all of it again.
    if (place === undefined) return { ...NEW_CURSOR, nextAtMs: nowMs };
    if (page.done) await sink.end(place, (await getRun(control, run.id)).run, told);
    return { v: 1, told, place, tries: 0, nextAtMs: nowMs + AGAIN_MS, ...(page.done && { done: true }) };
  }

  /** The metrics after a point, and the last event: a step is not over before the next, however long the log between. */
  async function readNews(id: string, afterSeq: number): Promise<Pick<RunEventPage, "events" | "done">> {
    const news: RunEvent[] = [];
    for (let after = afterSeq; ;) {
      const { events, next, done } = await readRunEvents(control, id, after);
      const last = events.at(-1);
      news.push(...events.filter((event) => event.body.type === "metrics" || event === last));
      const steps = new Set(news.flatMap(({ body }) => (body.type === "metrics" ? [body.step] : [])));
      if (done || last === undefined || steps.size > 1) return { events: news, done };
      after = next;
    }
  }

  async function begin(work: Work, sink: TrackerSink, cursor: TrackerCursor): Promise<TrackerCursor> {
    const { run } = work.document;
    const { place, link } = await sink.begin({ run, spec: await getRunSpec(control, run.id) });
    const message = `Its metrics are told to ${nameOf(work.tracker)}${link ? `: ${link}` : ""}`;
    await announce(work, "begun", { type: "log", level: "info", message });
    return { ...cursor, place, tries: 0, nextAtMs: control.clock.now() };
  }

  async function failed(work: Work, cursor: TrackerCursor, error: unknown): Promise<TrackerCursor> {
    const { run } = work.document;
    const tries = cursor.tries + 1;
    const isOver = isTerminalRun(run.state) && tries >= MAX_TRIES;
    const why = error instanceof Error ? error.message : String(error);
    const name = nameOf(work.tracker);
    control.log.warn("a tracker was not told", { runId: run.id, tracker: name, tries, error: why });
    const isPlain = error instanceof TrackerRefusal && error.isPlain;
    if (isPlain || tries >= TRIES_UNTOLD || isOver) {
      const message =
        `${name} does not take the metrics of this run: ${why}. The run goes on. ` +
        "What is missing there is told when it does, until an hour after the run has ended.";
      await announce(work, "failed", { type: "log", level: "warn", message });
    }
    const nextAtMs = control.clock.now() + Math.min(LONGEST_MS, BASE_MS * 2 ** cursor.tries);
    return { ...cursor, tries, nextAtMs, ...(isOver && { done: true }) };
  }

  /** Said in the run's events, once however often it happens. */
  async function announce({ document, index }: Work, what: string, body: RunEventBody): Promise<void> {
    const { id } = document.run;
    const entry = { atMs: control.clock.now(), body: redacted(control.secrets, body) };
    await control.store.append(runStream(id), [entry], { batchId: `tracker-${index}-${what}` });
    control.bus.notify(runStream(id));
  }

  /** A run whose trackers are done is no work any more. */
  async function release(id: string): Promise<void> {
    const { trackers = [] } = await getRunSpec(control, id);
    for (const index of trackers.keys())
      if (!(await control.store.get<TrackerCursor>(cursorKey(id, index)))?.value.done) return;
    await changeRun(control, id, ({ tracked: _done, ...document }) => ({ document }));
  }

  return loop;
}
