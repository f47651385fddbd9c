import type { RunEvent, RunEventPage } from "../../sdk/schema/event.ts";
import type { Control } from "../control.ts";
import { flushOutbox, getRun, runStream, type StreamedEvent } from "../runs/records.ts";
import { isTerminalRun } from "../runs/transitions.ts";

const PAGE = 500;

/** Events after `afterSeq` that are there now. `done`: the run has ended and this was the rest. */
export async function readRunEvents(
  control: Control,
  runId: string,
  afterSeq: number,
): Promise<RunEventPage> {
  const document = await getRun(control, runId);
  const ended = isTerminalRun(document.run.state);
  // What the end announced may not have reached the stream when the process died; it is part of the rest.
  if (ended) await flushOutbox(control, document);
  const entries = await control.store.read(runStream(runId), afterSeq, PAGE);
  const events = entries.map((entry): RunEvent => ({ seq: entry.seq, ...(entry.value as StreamedEvent) }));
  return { events, next: events.at(-1)?.seq ?? afterSeq, done: ended && events.length < PAGE };
}

/** Like {@link readRunEvents}, but waits up to `waitMs` for news where there is none. */
export async function waitForRunEvents(
  control: Control,
  runId: string,
  afterSeq: number,
  waitMs: number,
  signal?: AbortSignal,
): Promise<RunEventPage> {
  const listener = control.bus.listen(runStream(runId));
  try {
    const untilMs = control.clock.now() + waitMs;
    for (;;) {
      const page = await readRunEvents(control, runId, afterSeq);
      const leftMs = untilMs - control.clock.now();
      if (page.events.length > 0 || page.done || leftMs <= 0 || signal?.aborted) return page;
      if (!(await listener.next(leftMs, signal))) return page;
    }
  } finally {
    listener.close();
  }
}
