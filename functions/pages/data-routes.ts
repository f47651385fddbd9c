import * as z from "zod/mini";
import { checkpoint } from "../../sdk/schema/checkpoint.ts";
import { pageOf } from "../../sdk/schema/common.ts";
import { endpoint } from "../../sdk/schema/endpoint.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import { run } from "../../sdk/schema/run.ts";
import { getCheckpoint, listCheckpoints } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { launchEndpoint, stopEndpoint } from "../endpoints/endpoints.ts";
import { endpointLogs } from "../endpoints/logs.ts";
import { getEndpoint } from "../endpoints/records.ts";
import { SSE_HEADERS, sseStream, type ServerSentEvent } from "../events/sse.ts";
import { logRoute } from "../http/logs.ts";
import { route, type Route } from "../http/route.ts";
import { cancelRun } from "../runs/cancel.ts";
import { runLogs } from "../runs/logs.ts";
import { pauseRun, resumeRun } from "../runs/pause.ts";
import { getRun } from "../runs/records.ts";
import { followEndpoint, followOverview, followRun } from "./live.ts";
import { readShownRollouts } from "./shown-rollouts.ts";

const step = z.coerce.number().check(z.int(), z.gte(0));

/**
 * What the pages' script reads and does, with the browser's cookie. Programs use the routes without `/ui`,
 * with a key.
 */
export function pageDataRoutes(control: Control): Route[] {
  return [...streamRoutes(control), ...readRoutes(control), ...actionRoutes(control)];
}

function streamRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/ui/api/overview",
      access: "page",
      summary: "Server-sent events: runs and endpoints whenever they change",
      response: "events",
      handle: async () => events(control, (signal) => followOverview(control, signal)),
    }),
    route({
      method: "get",
      path: "/ui/api/runs/:id/news",
      access: "page",
      summary: "Server-sent events: a run and what happened in it",
      query: z.object({ after: z._default(step, 0) }),
      response: "events",
      async handle({ c, param, query }) {
        await getRun(control, param("id"));
        // A browser that reconnects asks for the address of its first try; it knows better by then.
        const after = parseWith(step, c.req.header("last-event-id") ?? query.after, "Last-Event-ID");
        return events(control, (signal) => followRun(control, param("id"), after, signal));
      },
    }),
    route({
      method: "get",
      path: "/ui/api/endpoints/:name/news",
      access: "page",
      summary: "Server-sent events: an endpoint whenever it changes",
      response: "events",
      async handle({ param }) {
        await getEndpoint(control, param("name"));
        return events(control, (signal) => followEndpoint(control, param("name"), signal));
      },
    }),
  ];
}

function readRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/ui/api/runs/:id/rollouts",
      access: "page",
      summary: "Texts and scores of a step's rollouts, by default of the latest",
      query: z.object({ step: z.optional(step) }),
      response: z.object({ step: z.number(), rollouts: z.array(z.looseObject({ text: z.string() })) }),
      async handle({ param, query }) {
        await getRun(control, param("id"));
        return readShownRollouts(control, param("id"), query.step);
      },
    }),
    route({
      method: "get",
      path: "/ui/api/runs/:id/checkpoints",
      access: "page",
      summary: "Complete checkpoints of a run, oldest first",
      response: pageOf(checkpoint),
      handle: async ({ param }) => ({ items: await listCheckpoints(control, param("id")) }),
    }),
    logRoute("/ui/api/runs/:id/logs", "page", "The last lines of the newest attempt", (id, lines) =>
      runLogs(control, id, lines),
    ),
    logRoute("/ui/api/endpoints/:name/logs", "page", "The last lines of the newest replica", (name, lines) =>
      endpointLogs(control, name, lines),
    ),
  ];
}

function actionRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/ui/api/runs/:id/cancel",
      access: "page",
      summary: "Ask a run to save a checkpoint and end",
      response: run,
      handle: ({ param }) => cancelRun(control, param("id")),
    }),
    route({
      method: "post",
      path: "/ui/api/runs/:id/pause",
      access: "page",
      summary: "Ask a run to save a checkpoint and let go of its container",
      response: run,
      handle: ({ param }) => pauseRun(control, param("id")),
    }),
    route({
      method: "post",
      path: "/ui/api/runs/:id/resume",
      access: "page",
      summary: "Let a paused run go on from its last checkpoint",
      response: run,
      handle: ({ param }) => resumeRun(control, param("id")),
    }),
    route({
      method: "post",
      path: "/ui/api/endpoints/:name/stop",
      access: "page",
      summary: "Stop an endpoint; its record stays",
      response: endpoint,
      handle: ({ param }) => stopEndpoint(control, param("name")),
    }),
    route({
      method: "post",
      path: "/ui/api/checkpoints/:id/endpoint",
      access: "page",
      summary: "Launch an endpoint for a checkpoint, or find the one that serves it",
      response: endpoint,
      async handle({ param }) {
        const { id, model } = await getCheckpoint(control, param("id"));
        return launchEndpoint(control, {
          model,
          checkpoint: id,
          public: false,
          recreate: false,
          engine: "onnx",
        });
      },
    }),
  ];
}

function events(
  control: Control,
  source: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
): Response {
  return new Response(sseStream(control.clock, source), { headers: SSE_HEADERS });
}
