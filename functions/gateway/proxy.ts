import type { Dispatcher } from "undici";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { SSE_HEADERS } from "../events/sse.ts";
import { openAiErrorBody } from "./openai-errors.ts";

const PASSED_HEADERS = ["content-type", "retry-after", "x-should-retry"];

/** An upstream answer as ours: the bytes as they come, at the client's pace. */
export function passOn(
  upstream: Dispatcher.ResponseData,
  abort: AbortController,
  headers: Record<string, string>,
): Response {
  const passed: Record<string, string> = { ...headers };
  for (const name of PASSED_HEADERS) {
    const value = upstream.headers[name];
    if (typeof value === "string") passed[name] = value;
  }
  const isStream = passed["content-type"]?.startsWith("text/event-stream") === true;
  const body = isStream ? guarded(upstream.body, abort) : bytes(upstream.body, abort);
  return new Response(body, {
    status: upstream.statusCode,
    headers: { ...passed, ...(isStream && SSE_HEADERS) },
  });
}

function bytes(source: AsyncIterable<Uint8Array>, abort: AbortController): ReadableStream<Uint8Array> {
  return fromIterator(source[Symbol.asyncIterator](), abort, (error) => {
    throw error;
  });
}

/** A stream that breaks after its first byte ends with an error event, never quietly. */
function guarded(source: AsyncIterable<Uint8Array>, abort: AbortController): ReadableStream<Uint8Array> {
  return fromIterator(source[Symbol.asyncIterator](), abort, (error) => errorEvent(brokenOff(error)));
}

export function errorEvent(error: SpotterError): Uint8Array {
  return new TextEncoder().encode(`data: ${JSON.stringify(openAiErrorBody(error))}\n\n`);
}

function brokenOff(cause: unknown): SpotterError {
  return new SpotterError("container_failed", "The replica stopped in the middle of its answer.", {
    hint: "Ask again.",
    cause,
  });
}

/** Pull by pull; a client that cancels aborts the upstream request. */
function fromIterator(
  iterator: AsyncIterator<Uint8Array>,
  abort: AbortController,
  lastWord: (error: unknown) => Uint8Array,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await iterator.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          if (abort.signal.aborted) return controller.close();
          controller.enqueue(lastWord(error));
          controller.close();
        }
      },
      cancel() {
        abort.abort();
      },
    },
    { highWaterMark: 0 },
  );
}
