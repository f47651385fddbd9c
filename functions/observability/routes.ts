import type { Control } from "../control.ts";
import { route, type Route } from "../http/route.ts";

export function observabilityRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/metrics",
      access: "admin",
      summary: "Metrics in Prometheus's text format",
      response: "text",
      async handle() {
        const { contentType, text } = await control.metrics.render();
        return new Response(text, { headers: { "content-type": contentType } });
      },
    }),
  ];
}
