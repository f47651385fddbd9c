import * as z from "zod/mini";
import { checkpoint } from "../../sdk/schema/checkpoint.ts";
import { estimate } from "../../sdk/schema/cost.ts";
import { forceQuery, nonNegativeInt, pageOf } from "../../sdk/schema/common.ts";
import { rollout } from "../../sdk/schema/rollout.ts";
import { run as runSchema } from "../../sdk/schema/run.ts";
import { runDetail as runDetailSchema } from "../../sdk/schema/run-detail.ts";
import { runSpec } from "../../sdk/schema/run-spec.ts";
import { listCheckpoints } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { neededConversion } from "../conversions/source.ts";
import { estimateRun } from "../cost/estimate-run.ts";
import { checkRunEngine } from "../engines/engines.ts";
import { logRoute } from "../http/logs.ts";
import { route, type Route } from "../http/route.ts";
import { acceptTeacher } from "../teachers/accept.ts";
import { checkNamed } from "./check-named.ts";
import { launchRun } from "./launch.ts";
import { runLifeRoutes } from "./life-routes.ts";
import { listQuery, listRuns } from "./list.ts";
import { runLogs } from "./logs.ts";
import { getRun, runDetail } from "./records.ts";
import { readRollouts } from "./rollouts.ts";

export function runRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/runs",
      access: "write",
      summary: "Launch a run; answers when it is accepted",
      body: runSpec,
      query: forceQuery,
      response: runDetailSchema,
      status: 201,
      isLaunch: true,
      handle: ({ body, query, launchKey }) =>
        launchRun(control, body, { key: launchKey, force: query.force === "true" }),
    }),
    route({
      method: "post",
      path: "/runs/estimate",
      access: "write",
      summary: "What a run would take and cost; launches nothing",
      body: runSpec,
      response: estimate,
      async handle({ body }) {
        // What a launch would refuse of what is named costs nothing to find out.
        const placed = checkRunEngine(control, body);
        await checkNamed(control, placed);
        await neededConversion(control, "none", placed);
        const teacher = await acceptTeacher(control, body);
        return estimateRun(control, { ...body, ...(teacher && { teacher }) });
      },
    }),
    route({
      method: "get",
      path: "/runs",
      access: "write",
      summary: "List runs, newest first",
      query: listQuery,
      response: pageOf(runSchema),
      handle: ({ query }) => listRuns(control, query),
    }),
    route({
      method: "get",
      path: "/runs/:id",
      access: "write",
      summary: "Get a run with its spec",
      response: runDetailSchema,
      handle: ({ param }) => runDetail(control, param("id")),
    }),
    ...runLifeRoutes(control),
    ...partRoutes(control),
  ];
}

function partRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/runs/:id/checkpoints",
      access: "write",
      summary: "Complete checkpoints of a run, oldest first",
      response: pageOf(checkpoint),
      async handle({ param }) {
        await getRun(control, param("id"));
        return { items: await listCheckpoints(control, param("id")) };
      },
    }),
    route({
      method: "get",
      path: "/runs/:id/rollouts",
      access: "write",
      summary: "Rollouts of a step, by default of the latest",
      query: z.object({ step: z.optional(z.coerce.number().check(z.int(), z.gte(0))) }),
      response: z.object({ step: nonNegativeInt, rollouts: z.array(rollout) }),
      async handle({ param, query }) {
        await getRun(control, param("id"));
        return readRollouts(control, param("id"), query.step);
      },
    }),
    logRoute("/runs/:id/logs", "write", "The last lines of the newest attempt", (id, lines) =>
      runLogs(control, id, lines),
    ),
  ];
}
