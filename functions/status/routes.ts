import * as z from "zod/mini";
import { health, status } from "../../sdk/schema/status.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { route, type Route } from "../http/route.ts";
import { liveCounts, liveSpend, runCounts } from "./live-counts.ts";

export function statusRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/health",
      access: "open",
      summary: "Whether this is Spotter, and which version",
      response: health,
      handle: async () => ({ ok: true, name: "spotter", version: control.config.version }),
    }),
    route({
      method: "get",
      path: "/status",
      access: "write",
      summary: "What runs here",
      response: status,
      async handle() {
        const { works } = await liveCounts(control);
        await control.routes.load();
        return {
          version: control.config.version,
          home: control.config.home,
          startedAtMs: control.startedAtMs,
          activeRuns: works,
          ...(await runCounts(control)),
          endpoints: control.routes.all().filter(isServing).length,
          spend: await liveSpend(control),
          notes: control.config.notes,
        };
      },
    }),
    route({
      method: "post",
      path: "/shutdown",
      access: "admin",
      summary: "End this control plane and its containers",
      response: z.object({ ok: z.literal(true) }),
      async handle() {
        control.shutdown();
        return { ok: true };
      },
    }),
  ];
}
