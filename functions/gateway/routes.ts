import type { Context } from "hono";
import * as z from "zod/mini";
import { chatRequest } from "../../sdk/schema/chat.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { route, type Route, type Schema } from "../http/route.ts";
import { chatCaller, mayUse, refuseStranger } from "./access.ts";
import { forward } from "./chat.ts";
import { preflight } from "./cors.ts";
import type { Upstreams } from "./upstream.ts";

const model = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});
const modelList = z.object({ object: z.literal("list"), data: z.array(model) });

const completionRequest = z.looseObject({ model: z.string(), prompt: z.unknown() });

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
      handle: async ({ c }) => ({
        object: "list" as const,
        data: (await visibleEndpoints(control, c)).map(modelOf),
      }),
    }),
    route({
      method: "get",
      path: "/v1/models/*",
      access: "gateway",
      summary: "One of them",
      response: model,
      async handle({ c, rest }) {
        const visible = await visibleEndpoints(control, c);
        const found = visible.find(({ name }) => name === rest());
        if (found !== undefined) return modelOf(found);
        throw new SpotterError("model_not_found", `There is no model "${rest()}" here.`, { where: "model" });
      },
    }),
    route({
      method: "options",
      path: "/v1/*",
      access: "open",
      summary: "CORS preflight",
      response: "empty",
      handle: async ({ c }) => preflight(c.req.header("access-control-request-headers")),
    }),
  ];
}

async function visibleEndpoints(control: Control, c: Context): Promise<Endpoint[]> {
  const caller = await chatCaller(control, c.req.header("authorization"));
  await control.routes.load();
  refuseStranger(control, caller);
  return control.routes.all().filter((endpoint) => isServing(endpoint) && mayUse(caller, endpoint));
}

function modelOf({ name, createdAtMs }: Endpoint): z.infer<typeof model> {
  return { id: name, object: "model", created: Math.floor(createdAtMs / 1000), owned_by: "spotter" };
}
