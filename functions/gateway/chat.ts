import type { Context } from "hono";
import type { Endpoint, Replica } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { SSE_HEADERS } from "../events/sse.ts";
import { readBody } from "../http/body.ts";
import { requestId } from "../http/errors.ts";
import type { ChatCaller } from "./access.ts";
import { admit } from "./admit.ts";
import type { RequestKind } from "./check-request.ts";
import { notReady, readyReplica, waitForReplica } from "./hold.ts";
import { errorEvent, passOn } from "./proxy.ts";
import type { Upstreams } from "./upstream.ts";

const KINDS: Record<string, RequestKind> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "completions",
  "/v1/embeddings": "embeddings",
  "/tokenize": "tokenize",
};
/** As the replicas take. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Stock clients give up after 300 s. */
export const HOLD_MS = 280_000;
/** A stream's headers are held this long; then it gets its 200, and comments while it waits on. */
export const HOLD_HEADERS_MS = 50_000;
export const HOLD_STREAM_MS = 600_000;
const COMMENT_EVERY_MS = 15_000;

interface Forward {
  endpoint: Endpoint;
  path: string;
  body: Uint8Array | string;
  headers: Record<string, string>;
  answerHeaders: Record<string, string>;
  abort: AbortController;
}

/** A request of our own pages: who calls was found out already, and the path is not the engine's. */
export interface ForwardAs {
  caller: ChatCaller;
  path: string;
}

/** Authenticates, finds the endpoint, holds until a replica is ready, and passes the bytes both ways. */
export async function forward(
  control: Control,
  upstreams: Upstreams,
  c: Context,
  as?: ForwardAs,
): Promise<Response> {
  const path = as?.path ?? c.req.path;
  const { endpoint, request, body, headers } = await admit(control, {
    kind: KINDS[path] ?? "chat",
    authorization: c.req.header("authorization"),
    requestId: requestId(c),
    read: () => readBody(c, MAX_BODY_BYTES),
    caller: as?.caller,
  });
  const abort = abortWith(c.req.raw.signal);
  const params: Forward = {
    endpoint,
    path,
    body,
    headers: { "content-type": "application/json", "x-request-id": requestId(c) },
    answerHeaders: { ...headers, "x-request-id": requestId(c) },
    abort,
  };
  if (readyReplica(endpoint) === undefined && request.stream) return heldStream(control, upstreams, params);
  const replica = await waitForReplica(control, endpoint.name, HOLD_MS, abort.signal);
  return send(control, upstreams, params, replica);
}

async function send(
  control: Control,
  upstreams: Upstreams,
  { endpoint, path, body, headers, answerHeaders, abort }: Forward,
  replica: Replica | undefined,
): Promise<Response> {
  if (abort.signal.aborted) throw new SpotterError("user_cancelled", "The client went away.");
  if (replica?.address === undefined) throw notReady(endpoint.name);
  const accessKey = await control.jobTokens.accessKey(replica.jobId);
  const upstream = await upstreams.post({
    address: replica.address,
    path,
    body,
    headers: { ...headers, authorization: `Bearer ${accessKey ?? ""}` },
    signal: abort.signal,
  });
  return passOn(upstream, abort, answerHeaders);
}

async function heldStream(control: Control, upstreams: Upstreams, params: Forward): Promise<Response> {
  const { endpoint, abort } = params;
  const replica = await waitForReplica(control, endpoint.name, HOLD_HEADERS_MS, abort.signal);
  if (replica !== undefined || abort.signal.aborted) return send(control, upstreams, params, replica);
  const headers = { ...SSE_HEADERS, ...params.answerHeaders };
  return new Response(comments(control, upstreams, params), { headers });
}

/** 200 is said already: comments while waiting, then the upstream's events, or an error event. */
function comments(control: Control, upstreams: Upstreams, params: Forward): ReadableStream<Uint8Array> {
  const { abort, endpoint } = params;
  const untilMs = control.clock.now() + HOLD_STREAM_MS - HOLD_HEADERS_MS;
  const ping = new TextEncoder().encode(": ping\n\n");
  let upstream: ReadableStreamDefaultReader<Uint8Array> | undefined;

  async function next(): Promise<{ value: Uint8Array; last: boolean } | undefined> {
    if (upstream !== undefined) {
      const { done, value } = await upstream.read();
      return done ? undefined : { value, last: false };
    }
    try {
      const replica = await waitForReplica(control, endpoint.name, COMMENT_EVERY_MS, abort.signal);
      if (replica === undefined) {
        if (control.clock.now() >= untilMs) throw notReady(endpoint.name);
        return { value: ping, last: false };
      }
      const response = await send(control, upstreams, params, replica);
      if (response.status !== 200) return { value: await asEvent(response), last: true };
      upstream = response.body?.getReader();
      return { value: ping, last: upstream === undefined };
    } catch (error) {
      return { value: errorEvent(SpotterError.from(error)), last: true };
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const item = await next();
        if (item !== undefined && !abort.signal.aborted) controller.enqueue(item.value);
        if (item === undefined || item.last || abort.signal.aborted) controller.close();
      },
      async cancel() {
        abort.abort();
        await upstream?.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}

async function asEvent(response: Response): Promise<Uint8Array> {
  const text = (await response.text()).replaceAll(/\s*\n\s*/g, " ");
  return new TextEncoder().encode(`data: ${text}\n\n`);
}

function abortWith(signal: AbortSignal): AbortController {
  const abort = new AbortController();
  if (signal.aborted) abort.abort();
  else signal.addEventListener("abort", () => abort.abort(), { once: true });
  return abort;
}
