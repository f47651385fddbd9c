/**
 * Server-sent events, written when the client asks for more. A frame that throws ends the stream with an
 * error event; a client that goes away ends the source.
 *
 * @module
 */

export const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

export interface EventStreamParams {
  /** Values to send as JSON, some at a time. */
  source: AsyncGenerator<unknown[], void, void>;
  /** What a thrown error looks like to the client. */
  errorValue: (error: unknown) => unknown;
  /** Called when the client goes away before the end. */
  onCancel: () => void;
  /** Silence after which a comment keeps the connection alive. Default: 15 seconds. */
  pingEveryMs?: number;
}

const DONE = "data: [DONE]\n\n";
const PING = ": ping\n\n";

/** Sends every value as one event, then `[DONE]`; after an error there is no `[DONE]`. */
export function eventStream(params: EventStreamParams): ReadableStream<Uint8Array> {
  const { source, errorValue, onCancel, pingEveryMs = 15_000 } = params;
  const encoder = new TextEncoder();
  let pending: Promise<IteratorResult<unknown[], void>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          pending ??= source.next();
          const next = await orTimeout(pending, pingEveryMs);
          if (next === undefined) {
            controller.enqueue(encoder.encode(PING));
            return;
          }
          pending = undefined;
          controller.enqueue(encoder.encode(next.done === true ? DONE : next.value.map(frame).join("")));
          if (next.done === true) controller.close();
        } catch (error) {
          controller.enqueue(encoder.encode(frame(errorValue(error))));
          controller.close();
        }
      },
      async cancel() {
        onCancel();
        // The generator may be waiting for tokens that no longer come.
        await pending?.catch(() => undefined);
        await source.return();
      },
    },
    { highWaterMark: 0 },
  );
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function orTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
