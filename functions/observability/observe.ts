import type { Context } from "hono";
import type { Control } from "../control.ts";
import type { Observation } from "./observer.ts";

/** Begins to watch a request. `route` is the route's pattern, never the path as sent: it becomes a label. */
export function observe(control: Pick<Control, "observer">, c: Context, route: string): Observation {
  const seen = control.observer.begin({
    requestId: (c.get as (key: string) => string | undefined)("requestId") ?? "none",
    route,
    method: c.req.method,
    traceparent: c.req.header("traceparent"),
    tracestate: c.req.header("tracestate"),
  });
  set(c, "observation", seen);
  return seen;
}

/** The request's observation; every registered route has begun one before its handler. */
export function observationOf(c: Context): Observation | undefined {
  return (c.get as (key: string) => Observation | undefined)("observation");
}

/**
 * Says that the handler ends the observation itself, when the body has gone out or the client has gone away.
 * Call it last, with the answer's head ready: until then an error ends it with the error's status and code.
 */
export function endsWithBody(c: Context): void {
  set(c, "endsWithBody", true);
}

/** Ends what no handler took over. */
export function endObservation(control: Pick<Control, "observer">, c: Context): void {
  if ((c.get as (key: string) => boolean | undefined)("endsWithBody") === true) return;
  (observationOf(c) ?? observe(control, c, "unknown")).end(c.res.status);
}

function set(c: Context, key: string, value: unknown): void {
  (c.set as (key: string, value: unknown) => void)(key, value);
}
