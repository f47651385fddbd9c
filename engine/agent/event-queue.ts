import * as z from "zod/mini";
import { jobEventsReply, type JobEventBody } from "../../sdk/schema/job.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Pace } from "./pace.ts";

export interface EventQueueParams {
  /** Sends one batch and returns the raw answer; retries by itself. */
  send: (events: { seq: number; body: JobEventBody }[]) => Promise<unknown>;
  pace: Pace;
  signal: AbortSignal;
  /** Nothing more will be delivered. */
  onError: (error: Error) => void;
  /** Wait this long for more events before a batch leaves. */
  lingerMs?: number;
  maxBatch?: number;
  /** A batch is stored as one item, and a store value holds 350 kB. */
  maxBatchBytes?: number;
}

/** Reports in order, in batches, with a sequence number each: resending a batch is harmless. */
export interface EventQueue {
  push(body: JobEventBody): void;
  /** Resolves when everything pushed so far is stored. */
  flush(): Promise<void>;
}

interface Waiting {
  seq: number;
  body: JobEventBody;
  bytes: number;
}

/** Answers that acknowledge nothing new, in a row, before the queue takes it for a fault. */
const MAX_STALLED_ANSWERS = 5;

export function createEventQueue(params: EventQueueParams): EventQueue {
  const { lingerMs = 25, maxBatch = 200, maxBatchBytes = 256 * 1024 } = params;
  const waiting: Waiting[] = [];
  let lastSeq = 0;
  let hurry: AbortController | undefined;
  let pump: Promise<void> | undefined;
  let failed: Error | undefined;

  function push(body: JobEventBody): void {
    if (failed !== undefined || params.signal.aborted) return;
    waiting.push({ seq: ++lastSeq, body, bytes: Buffer.byteLength(JSON.stringify(body)) });
    start();
  }

  function start(): void {
    pump ??= drain()
      .catch((error: unknown) => {
        failed = error instanceof Error ? error : new Error(String(error));
        params.onError(failed);
      })
      .finally(() => {
        pump = undefined;
      });
  }

  async function drain(): Promise<void> {
    let stalled = 0;
    while (waiting.length > 0) {
      await linger();
      const batch = nextBatch();
      const reply = z.parse(jobEventsReply, await params.send(batch.map(({ seq, body }) => ({ seq, body }))));
      const before = waiting.length;
      while (waiting[0] !== undefined && waiting[0].seq <= reply.acknowledged) waiting.shift();
      stalled = waiting.length < before ? 0 : stalled + 1;
      if (stalled >= MAX_STALLED_ANSWERS) throw stalledError(batch[0]?.seq, reply.acknowledged);
    }
  }

  async function linger(): Promise<void> {
    if (hurry?.signal.aborted === true) return;
    hurry = new AbortController();
    await params.pace.sleep(lingerMs, AbortSignal.any([hurry.signal, params.signal])).catch(() => undefined);
    params.signal.throwIfAborted();
  }

  function nextBatch(): Waiting[] {
    let bytes = 0;
    const end = waiting.slice(0, maxBatch).findIndex((event, index) => {
      bytes += event.bytes;
      return index > 0 && bytes > maxBatchBytes;
    });
    return waiting.slice(0, end === -1 ? maxBatch : end);
  }

  async function flush(): Promise<void> {
    while (pump !== undefined) {
      hurry ??= new AbortController();
      hurry.abort();
      await pump;
    }
    hurry = undefined;
    if (failed !== undefined) throw failed;
    if (waiting.length > 0) params.signal.throwIfAborted();
  }

  return { push, flush };
}

function stalledError(seq: number | undefined, acknowledged: number): SpotterError {
  return new SpotterError(
    "internal",
    `Events from ${seq ?? 0} on are not acknowledged; the control plane stays at ${acknowledged}.`,
  );
}
