import type { Context } from "hono";
import type { Control } from "../control.ts";
import { readBody } from "../http/body.ts";
import { requestId } from "../http/errors.ts";
import { endsWithBody, observationOf, observe } from "../observability/observe.ts";
import type { ChatCaller } from "./access.ts";
import { converse, MAX_BODY_BYTES } from "./call.ts";
import type { Upstreams } from "./upstream.ts";
import { inflated } from "./inflate.ts";
import { webSink } from "./web-sink.ts";

/** A request of our own pages: who calls was found out already, and the path is not the engine's. */
export interface ForwardAs {
  caller: ChatCaller;
  path: string;
}

/** Authenticates, finds the endpoint, holds until a replica is free, and passes the bytes both ways. */
export async function forward(
  control: Control,
  upstreams: Upstreams,
  c: Context,
  as?: ForwardAs,
): Promise<Response> {
  const { signal } = c.req.raw;
  const path = as?.path ?? c.req.path;
  const { sink, response, fail } = webSink(signal);
  converse(control, upstreams, {
    path,
    requestId: requestId(c),
    authorization: c.req.header("authorization"),
    read: () => inflated(readBody(c, MAX_BODY_BYTES), c.req.header("content-encoding"), MAX_BODY_BYTES),
    caller: as?.caller,
    seen: observationOf(c) ?? observe(control, c, path),
    sink,
    isGone: () => signal.aborted,
    answerError: fail,
  }).catch(fail);
  const answer = await response;
  endsWithBody(c);
  return answer;
}
