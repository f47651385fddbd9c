/**
 * The one place that knows how Lambda asks and is answered over HTTP. `hono/aws-lambda` is going to move to a
 * package of its own.
 *
 * @module
 */
import { handle, streamHandle } from "hono/aws-lambda";
import type { Hono } from "hono";

/** A request as a function URL sends it (payload version 2.0); what is not listed is passed on. */
export interface FunctionUrlEvent {
  rawPath: string;
  headers: Record<string, string>;
  requestContext: { domainName: string; http: { method: string; path: string } };
}

export interface FunctionUrlAnswer {
  statusCode: number;
  headers?: Record<string, string>;
  cookies?: string[];
  body?: string;
  isBase64Encoded?: boolean;
}

export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** What a streamed answer is written to. */
export interface ResponseStream extends NodeJS.WritableStream {
  setContentType?(type: string): void;
}

/** What Lambda's runtime puts into the global scope. */
interface LambdaRuntime {
  streamifyResponse(handler: StreamingHandler): StreamingHandler;
  HttpResponseStream: {
    from(stream: ResponseStream, head: FunctionUrlAnswer): ResponseStream;
  };
}

export type StreamingHandler = (
  event: FunctionUrlEvent,
  stream: ResponseStream,
  context: LambdaContext,
) => Promise<void>;

type App = Pick<Hono, "fetch">;

/** The whole answer at once, at most 6 MB. */
export function answerOf(
  app: App,
): (event: FunctionUrlEvent, context: LambdaContext) => Promise<FunctionUrlAnswer> {
  const answer = handle(app as Hono);
  return async (event, context) =>
    (await answer(event as unknown as Parameters<typeof answer>[0], context as never)) as FunctionUrlAnswer;
}

/** An answer piece by piece, up to 200 MB. */
export function streamOf(app: App): StreamingHandler {
  return streamHandle(app as Hono) as unknown as StreamingHandler;
}

/** Marks a handler as one that streams, for the runtime. */
export function streaming(handler: StreamingHandler): StreamingHandler {
  return runtime().streamifyResponse(handler);
}

/** Writes a whole answer to a stream. */
export function writeAnswer(stream: ResponseStream, { body = "", ...head }: FunctionUrlAnswer): void {
  runtime().HttpResponseStream.from(stream, head).end(body);
}

function runtime(): LambdaRuntime {
  return (globalThis as unknown as { awslambda: LambdaRuntime }).awslambda;
}
