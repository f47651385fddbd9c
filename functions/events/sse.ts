import type { Clock } from "../ports/clock.ts";

export interface ServerSentEvent {
  /** What a client sends back as Last-Event-ID. */
  id?: string;
  data: string;
}

export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const KEEP_ALIVE_MS = 15_000;

/**
 * Server-sent events at the reader's pace. The source is asked for the next event only when the client took
 * the last one; a client that goes away aborts the source's signal. A source that throws errors the
 * connection, so that nobody takes a cut stream for a finished one.
 */
export function sseStream(
  clock: Clock,
  source: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
): ReadableStream<Uint8Array> {
  const abort = new AbortController();
  const encoder = new TextEncoder();
  const events = source(abort.signal);
  let pending: Promise<IteratorResult<ServerSentEvent>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= events.next();
        const next = await orTimeout(clock, pending, KEEP_ALIVE_MS);
        if (next === "timeout") return controller.enqueue(encoder.encode(": ping\n\n"));
        pending = undefined;
        if (next.done) return controller.close();
        controller.enqueue(encoder.encode(formatEvent(next.value)));
      },
      async cancel() {
        abort.abort();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

export function formatEvent(event: ServerSentEvent): string {
  const id = event.id === undefined ? "" : `id: ${event.id}\n`;
  const data = event.data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id}${data.join("")}\n`;
}

async function orTimeout<T>(clock: Clock, promise: Promise<T>, ms: number): Promise<T | "timeout"> {
  let cancel = () => {};
  const timeout = new Promise<"timeout">((resolve) => {
    cancel = clock.after(ms, () => resolve("timeout"));
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    cancel();
  }
}
