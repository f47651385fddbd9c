import type { Context } from "hono";
import type { Endpoint, Replica } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { SSE_HEADERS } from "../events/sse.ts";
import { readBody } from "../http/body.ts";
import { requestId } from "../http/errors.ts";
import { chatCaller, checkAccess, refuseStranger, type ChatCaller } from "./access.ts";
import { notReady, readyReplica, waitForReplica } from "./hold.ts";
import { errorEvent, passOn } from "./proxy.ts";
import { resolveModel } from "./resolve.ts";
import type { Upstreams } from "./upstream.ts";

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
  const caller = as?.caller ?? (await chatCaller(control, c));
  await control.routes.load();
  refuseStranger(control, caller);
  const bytes = await readBody(c, MAX_BODY_BYTES);
  const request = parseBody(bytes);
  const endpoint = await resolveModel(control, request.model);
  checkAccess(caller, endpoint);
  const abort = abortWith(c.req.raw.signal);
  const params: Forward = {
    endpoint,
    path: as?.path ?? c.req.path,
    body: request.model === endpoint.name ? bytes : JSON.stringify({ ...request.rest, model: endpoint.name }),
    headers: { "content-type": "application/json", "x-request-id": requestId(c) },
    abort,
  };
  if (readyReplica(endpoint) === undefined && request.stream) return heldStream(control, upstreams, params);
  const replica = await waitForReplica(control, endpoint.name, HOLD_MS, abort.signal);
  return send(control, upstreams, params, replica);
}

async function send(
  control: Control,
  upstreams: Upstreams,
  { endpoint, path, body, headers, abort }: Forward,
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
  return passOn(upstream, abort, { "x-request-id": headers["x-request-id"] ?? "" });
}

async function heldStream(control: Control, upstreams: Upstreams, params: Forward): Promise<Response> {
  const { endpoint, abort } = params;
  const replica = await waitForReplica(control, endpoint.name, HOLD_HEADERS_MS, abort.signal);
  if (replica !== undefined || abort.signal.aborted) return send(control, upstreams, params, replica);
  const headers = { ...SSE_HEADERS, "x-request-id": params.headers["x-request-id"] ?? "" };
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

function parseBody(bytes: Uint8Array): { model: string; stream: boolean; rest: Record<string, unknown> } {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new SpotterError("invalid_input", "The request body is not JSON.", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new SpotterError("invalid_input", "The request body must be a JSON object.");
  const rest = value as Record<string, unknown>;
  if (typeof rest["model"] !== "string" || rest["model"] === "") {
    throw new SpotterError("invalid_input", "The request needs a `model`: the name of an endpoint.", {
      where: "model",
    });
  }
  return { model: rest["model"], stream: rest["stream"] === true, rest };
}

function abortWith(signal: AbortSignal): AbortController {
  const abort = new AbortController();
  if (signal.aborted) abort.abort();
  else signal.addEventListener("abort", () => abort.abort(), { once: true });
  return abort;
}
