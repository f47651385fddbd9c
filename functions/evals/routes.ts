import * as z from "zod/mini";
import { pageOf, pageQuery } from "../../sdk/schema/common.ts";
import { evalDetail, launchEval as launchSchema } from "../../sdk/schema/launch-eval.ts";
import { evalRow } from "../../sdk/schema/eval-row.ts";
import { evalComparison } from "../../sdk/schema/eval-comparison.ts";
import type { Control } from "../control.ts";
import { logRoute, logsOf } from "../http/logs.ts";
import { route, type Route } from "../http/route.ts";
import { evalJobId } from "../jobs/records.ts";
import { compareEvals } from "./compare.ts";
import { cancelEval, launchEval } from "./launch.ts";
import { EVALS, getOwnEval, streamOf, upToDate, type EvalDocument } from "./records.ts";

const rowQuery = z.object({
  after: z._default(z.coerce.number().check(z.int(), z.gte(0)), 0),
  limit: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(1000)), 100),
});

export function evalRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/evals",
      access: "write",
      summary: "Launch an eval",
      body: launchSchema,
      response: evalDetail,
      status: 201,
      isLaunch: true,
      handle: ({ body, launchKey }) => launchEval(control, body, launchKey),
    }),
    route({
      method: "get",
      path: "/evals",
      access: "write",
      summary: "List evals, newest first",
      query: pageQuery,
      response: pageOf(evalDetail),
      async handle({ query }) {
        const page = await control.store.query<EvalDocument>(EVALS, { ...query, reverse: true });
        const items = page.items.map(({ value }) => upToDate(value).record);
        return { items, ...(page.next && { next: page.next }) };
      },
    }),
    route({
      method: "get",
      path: "/evals/:id",
      access: "write",
      summary: "Get an eval",
      response: evalDetail,
      handle: async ({ param }) => (await getOwnEval(control, param("id"))).record,
    }),
    route({
      method: "get",
      path: "/evals/:id/rows",
      access: "write",
      summary: "Conversations and verdicts in the order they ended",
      query: rowQuery,
      response: pageOf(evalRow),
      async handle({ param, query }) {
        const document = await getOwnEval(control, param("id"));
        const entries = await control.store.read(streamOf(document), query.after, query.limit);
        const last = entries.length === query.limit ? entries.at(-1) : undefined;
        return { items: entries.map((entry) => entry.value), ...(last && { next: String(last.seq) }) };
      },
    }),
    route({
      method: "get",
      path: "/evals/:id/compare/:other",
      access: "write",
      summary: "How much better another eval is on the same rows",
      response: evalComparison,
      handle: ({ param }) => compareEvals(control, param("id"), param("other")),
    }),
    route({
      method: "post",
      path: "/evals/:id/cancel",
      access: "write",
      summary: "Ask an eval to end",
      response: evalDetail,
      handle: ({ param }) => cancelEval(control, param("id")),
    }),
    logRoute("/evals/:id/logs", "write", "The last lines of the newest attempt", (id, lines) =>
      evalLogs(control, id, lines),
    ),
  ];
}

async function evalLogs(control: Control, id: string, lines: number): Promise<{ lines: string[] }> {
  const { record } = await getOwnEval(control, id);
  const jobId = record.attempt === 0 ? undefined : evalJobId(record.id, record.attempt);
  return logsOf(control, jobId, lines, record.failure?.logTail);
}
