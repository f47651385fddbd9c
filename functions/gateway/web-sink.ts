import type { Sink } from "./sink.ts";

const BUFFERED_BYTES = 64 * 1024;

export interface WebSink {
  sink: Sink;
  /** Resolves with the first bytes. */
  response: Promise<Response>;
  /** Rejects `response`: there is no answer, only an error. */
  fail: (error: unknown) => void;
}

/** A sink whose answer is a web Response. `signal`: the client went away. */
export function webSink(signal: AbortSignal): WebSink {
  const { promise: response, resolve, reject } = Promise.withResolvers<Response>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let init: { status: number; headers: Record<string, string> } = { status: 200, headers: {} };
  const gone = () => sink.onGone();
  const over = () => signal.removeEventListener("abort", gone);

  function open(): ReadableStreamDefaultController<Uint8Array> {
    if (controller !== undefined) return controller;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (created) => void (controller = created),
        pull: () => sink.onDrain(),
        cancel() {
          over();
          gone();
        },
      },
      { highWaterMark: BUFFERED_BYTES, size: (bytes) => bytes?.byteLength ?? 0 },
    );
    resolve(new Response(body, init));
    if (controller === undefined) throw new Error("A ReadableStream did not call its start.");
    return controller;
  }

  const sink: Sink = {
    head: (status, ...headers) =>
      void (init = { status, headers: Object.assign({}, ...headers) as Record<string, string> }),
    write(bytes) {
      const stream = open();
      stream.enqueue(bytes);
      return (stream.desiredSize ?? 0) > 0;
    },
    end(bytes) {
      over();
      if (controller === undefined) return resolve(new Response(bytes ? ownBytes(bytes) : null, init));
      if (bytes !== undefined) controller.enqueue(bytes);
      controller.close();
    },
    cut() {
      over();
      open().error(new Error("The answer was broken off."));
    },
    onDrain: () => {},
    onGone: () => {},
  };
  signal.addEventListener("abort", gone, { once: true });
  const fail = (error: unknown) => {
    over();
    reject(error);
  };
  return { sink, response, fail };
}

/** A Response takes no view of shared memory; none of ours is one. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
