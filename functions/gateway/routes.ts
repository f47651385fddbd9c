import * as z from "zod/mini";
import { chatRequest } from "../../sdk/schema/chat.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { route, type Route, type Schema } from "../http/route.ts";
import { chatCaller, mayUse, refuseStranger } from "./access.ts";
import { forward } from "./chat.ts";
import type { Upstreams } from "./upstream.ts";

const modelList = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() }),
  ),
});

const completionRequest = z.looseObject({ model: z.string(), prompt: z.unknown() });

const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, OPTIONS",
  "access-control-max-age": "86400",
};
const CORS_ALWAYS = "Authorization, Content-Type, X-Request-Id, OpenAI-Organization, OpenAI-Project";

export function gatewayRoutes(control: Control, upstreams: Upstreams): Route[] {
  const completion = (path: string, summary: string, documentedBody: Schema) =>
    route({
      method: "post",
      path,
      access: "gateway",
      summary,
      documentedBody,
      response: "events",
      handle: ({ c }) => forward(control, upstreams, c),
    });
  return [
    completion(
      "/v1/chat/completions",
      "OpenAI-compatible chat; `model` is an endpoint, a run or run@step",
      chatRequest,
    ),
    completion("/v1/completions", "OpenAI-compatible completions", completionRequest),
    route({
      method: "get",
      path: "/v1/models",
      access: "gateway",
      summary: "Endpoints that this key may use",
      response: modelList,
      async handle({ c }) {
        const caller = await chatCaller(control, c);
        await control.routes.load();
        refuseStranger(control, caller);
        const visible = control.routes
          .all()
          .filter((endpoint) => isServing(endpoint) && mayUse(caller, endpoint));
        const data = visible.map(({ name, createdAtMs }) => {
          const created = Math.floor(createdAtMs / 1000);
          return { id: name, object: "model" as const, created, owned_by: "spotter" };
        });
        return { object: "list" as const, data };
      },
    }),
    route({
      method: "options",
      path: "/v1/*",
      access: "open",
      summary: "CORS preflight",
      response: "empty",
      async handle({ c }) {
        const asked = c.req.header("access-control-request-headers");
        const headers = asked === undefined ? CORS_ALWAYS : `${CORS_ALWAYS}, ${asked}`;
        return new Response(null, {
          status: 204,
          headers: { ...CORS_HEADERS, "access-control-allow-headers": headers },
        });
      },
    }),
  ];
}
