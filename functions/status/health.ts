import { health } from "../../sdk/schema/status.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";

/** Whether somebody is there: of all routes, the one that needs nothing but the process. */
export function healthRoute(control: Pick<Control, "config">): Route {
  return route({
    method: "get",
    path: "/health",
    access: "open",
    summary: "Whether this is Spotter, and which version",
    response: health,
    handle: async () => ({ ok: true, name: "spotter", version: control.config.version }),
  });
}
