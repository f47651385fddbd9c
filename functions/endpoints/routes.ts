import { forceQuery, pageOf, pageQuery } from "../../sdk/schema/common.ts";
import {
  endpoint,
  type Endpoint,
  launchEndpoint as launchSchema,
  updateEndpoint as updateSchema,
} from "../../sdk/schema/endpoint.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import type { Control } from "../control.ts";
import { logRoute } from "../http/logs.ts";
import { route, type Route } from "../http/route.ts";
import { launchEndpoint, stopEndpoint, updateEndpoint } from "./endpoints.ts";
import { endpointSpend } from "../cost/endpoint-spend.ts";
import { endpointLogs } from "./logs.ts";
import { ENDPOINTS, getEndpoint, type EndpointDocument } from "./records.ts";

export function endpointRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/endpoints",
      access: "write",
      summary: "Launch an endpoint, or find the one the same launch made before",
      body: launchSchema,
      query: forceQuery,
      response: endpoint,
      isLaunch: true,
      handle: async ({ body, query, launchKey }) =>
        shown(
          control,
          await launchEndpoint(control, body, { key: launchKey, force: query.force === "true" }),
        ),
    }),
    route({
      method: "get",
      path: "/endpoints",
      access: "write",
      summary: "List endpoints by name",
      query: pageQuery,
      response: pageOf(endpoint),
      async handle({ query }) {
        const page = await control.store.query<EndpointDocument>(ENDPOINTS, query);
        return {
          items: page.items.map((item) => shown(control, item.value.endpoint)),
          ...(page.next && { next: page.next }),
        };
      },
    }),
    route({
      method: "get",
      path: "/endpoints/:name",
      access: "write",
      summary: "Get an endpoint",
      response: endpoint,
      async handle({ param }) {
        const record = shown(control, (await getEndpoint(control, param("name"))).endpoint);
        return { ...record, spend: await endpointSpend(control, param("name")) };
      },
    }),
    route({
      method: "patch",
      path: "/endpoints/:name",
      access: "write",
      summary: "Change an endpoint in place",
      body: updateSchema,
      response: endpoint,
      handle: async ({ param, body }) => shown(control, await updateEndpoint(control, param("name"), body)),
    }),
    route({
      method: "delete",
      path: "/endpoints/:name",
      access: "write",
      summary: "Stop an endpoint; its record stays",
      response: endpoint,
      handle: async ({ param }) => shown(control, await stopEndpoint(control, param("name"))),
    }),
    logRoute("/endpoints/:name/logs", "write", "The last lines of the newest replica", (name, lines) =>
      endpointLogs(control, name, lines),
    ),
  ];
}

/** With its defaults, and the URL where this control plane is now: a record may be older than its port. */
function shown(control: Control, record: Endpoint): Endpoint {
  return { ...record, scaling: scalingOf(record.scaling), url: `${control.config.publicUrl()}/v1` };
}
