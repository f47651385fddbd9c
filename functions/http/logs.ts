import * as z from "zod/mini";
import type { Control } from "../control.ts";
import { route, type Access, type Route } from "./route.ts";

const logQuery = z.object({
  lines: z._default(z.coerce.number().check(z.int(), z.gt(0), z.lte(10_000)), 200),
});
const logLines = z.object({ lines: z.array(z.string()) });

/** A route that answers with the last lines of something whose id or name is the parameter in the path. */
export function logRoute(
  path: `${string}/:${"id" | "name"}/logs`,
  access: Access,
  summary: string,
  read: (id: string, lines: number) => Promise<{ lines: string[] }>,
): Route {
  const name = path.endsWith("/:id/logs") ? "id" : "name";
  return route({
    method: "get",
    path,
    access,
    summary,
    query: logQuery,
    response: logLines,
    handle: ({ param, query }) => read(param(name), query.lines),
  });
}

/** What a container wrote last; where nothing is left of it, the lines its record kept. */
export async function logsOf(
  control: Control,
  jobId: string | undefined,
  lines: number,
  kept: string[] | undefined,
): Promise<{ lines: string[] }> {
  const live = jobId === undefined ? [] : await control.containers.logs(jobId, lines);
  return { lines: live.length > 0 ? live : (kept ?? []).slice(-lines) };
}
