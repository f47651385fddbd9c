import type { Context } from "hono";
import * as z from "zod/mini";
import { nonNegativeInt } from "../../sdk/schema/common.ts";
import { runEventPage } from "../../sdk/schema/event.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import { bearer } from "../http/authenticate.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { getRun } from "../runs/records.ts";
import { waitForRunEvents } from "./run-events.ts";
import { SSE_HEADERS, sseStream, type ServerSentEvent } from "./sse.ts";

const MAX_WAIT_MS = 25_000;
/** A stream may be open for days; within this time a revoked key ends it. */
const KEY_CHECK_MS = 2_000;
const seq = z._default(z.coerce.number().check(z.int(), z.gte(0)), 0);
const pollQuery = z.object({
  after: seq,
  /** Longer waits are cut to 25 s. */
  waitMs: z._default(z.coerce.number().check(z.gte(0)), 0),
});

export function eventRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/runs/:id/events",
      access: "write",
      summary: "Events after a sequence number; waits up to waitMs for news",
      query: pollQuery,
      response: runEventPage,
      handle: ({ c, param, query }) =>
        waitForRunEvents(
          control,
          param("id"),
          query.after,
          Math.min(query.waitMs, MAX_WAIT_MS),
          c.req.raw.signal,
        ),
    }),
    route({
      method: "get",
      path: "/runs/:id/events/stream",
      access: "write",
      summary: "The same as server-sent events; resumes after Last-Event-ID or ?after",
      query: z.object({ after: z.optional(z.coerce.number().check(z.int(), z.gte(0))) }),
      response: "events",
      async handle({ c, param, query }) {
        const lastEventId = c.req.header("last-event-id");
        const after =
          query.after ??
          (lastEventId === undefined ? 0 : parseWith(nonNegativeInt, Number(lastEventId), "Last-Event-ID"));
        await getRun(control, param("id"));
        const stream = sseStream(control.clock, (signal) =>
          follow(control, c, { runId: param("id"), after }, signal),
        );
        return new Response(stream, { headers: SSE_HEADERS });
      },
    }),
  ];
}

/** Every event of a run from a point on; ends after the run's last, or when the key is revoked. */
async function* follow(
  control: Control,
  c: Context,
  start: { runId: string; after: number },
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  let { after } = start;
  while (!signal.aborted) {
    const page = await waitForRunEvents(control, start.runId, after, KEY_CHECK_MS, signal);
    if ((await control.keys.findNow(bearer(c) ?? "")) === undefined) return;
    for (const event of page.events) yield { id: String(event.seq), data: JSON.stringify(event) };
    after = page.next;
    if (page.done) return;
  }
}
