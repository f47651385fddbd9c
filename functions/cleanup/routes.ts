import { cleanupReport, cleanupRequest } from "../../sdk/schema/cleanup.ts";
import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";
import { cleanUp } from "./cleanup.ts";

export function cleanupRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/cleanup",
      access: "admin",
      summary: "Remove what nobody needs any more, or tell what would go",
      body: cleanupRequest,
      response: cleanupReport,
      handle: ({ body }) => cleanUp(control, body),
    }),
  ];
}
