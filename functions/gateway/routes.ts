import type { Context } from "hono";
import * as z from "zod/mini";
import { chatRequest } from "../../sdk/schema/chat.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { health } from "../../sdk/schema/status.ts";
import type { Control } from "../control.ts";
import { route, type Route, type Schema } from "../http/route.ts";
import { chatCaller, refuseStranger, type ChatCaller } from "./access.ts";
import { forward } from "./chat.ts";
import { preflight } from "./cors.ts";
import { findModel, listModels, modelEntry } from "./model-list.ts";
import type { Upstreams } from "./upstream.ts";

const modelList = z.object({ object: z.literal("list"), data: z.array(modelEntry) });
const completionRequest = z.looseObject({ model: z.string(), prompt: z.unknown() });
const embeddingsRequest = z.looseObject({ model: z.string(), input: z.unknown() });
const tokenizeRequest = z.looseObject({
  model: z.string(),
  prompt: z.optional(z.string()),
  messages: z.optional(z.array(z.unknown())),
});
const detokenizeRequest = z.looseObject({ model: z.string(), tokens: z.array(z.number()) });

export function gatewayRoutes(control: Control, upstreams: Upstreams): Route[] {
  return [...engineRoutes(control, upstreams), ...modelRoutes(control), ...openRoutes(control)];
}

/** What goes on to a replica. */
function engineRoutes(control: Control, upstreams: Upstreams): Route[] {
  const engine = (path: string, summary: string, documentedBody: Schema) =>
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
    engine(
      "/v1/chat/completions",
      "OpenAI-compatible chat; `model` is an endpoint, an alias, a run or run@step",
      chatRequest,
    ),
    engine("/v1/completions", "OpenAI-compatible completions", completionRequest),
    engine("/v1/embeddings", "OpenAI-compatible embeddings, where the engine has them", embeddingsRequest),
    engine("/tokenize", "Token ids of a prompt, or of the messages of a chat", tokenizeRequest),
    engine("/detokenize", "The text of token ids", detokenizeRequest),
    route({
      method: "post",
      path: "/v1/responses",
      access: "gateway",
      summary: "Says that there is /v1/chat/completions",
      response: "empty",
      async handle({ c }) {
        await knownCaller(control, c);
        throw new SpotterError("route_unsupported", "Spotter does not answer /v1/responses.", {
          hint: "Use /v1/chat/completions; in OpenAI's SDKs that is client.chat.completions.create(...).",
        });
      },
    }),
  ];
}

function modelRoutes(control: Control): Route[] {
  return [
    route({
      method: "get",
      path: "/v1/models",
      access: "gateway",
      summary: "Every name this key may chat with; wakes nothing",
      response: modelList,
      async handle({ c }) {
        return { object: "list" as const, data: await listModels(control, await knownCaller(control, c)) };
      },
    }),
    route({
      method: "get",
      path: "/v1/models/*",
      access: "gateway",
      summary: "One of them",
      response: modelEntry,
      async handle({ c, rest }) {
        const found = await findModel(control, await knownCaller(control, c), rest());
        if (found !== undefined) return found;
        throw new SpotterError("model_not_found", `There is no model "${rest()}" here.`, { where: "model" });
      },
    }),
  ];
}

function openRoutes(control: Control): Route[] {
  const answerPreflight = (path: string) =>
    route({
      method: "options",
      path,
      access: "open",
      summary: "CORS preflight",
      response: "empty",
      handle: async ({ c }) => preflight(c.req.header("access-control-request-headers")),
    });
  return [
    answerPreflight("/v1/*"),
    answerPreflight("/tokenize"),
    answerPreflight("/detokenize"),
    route({
      method: "get",
      path: "/healthz",
      access: "open",
      summary: "Whether the gateway answers; wakes nothing",
      response: health,
      handle: async () => ({ ok: true, name: "spotter", version: control.config.version }),
    }),
  ];
}

async function knownCaller(control: Control, c: Context): Promise<ChatCaller> {
  const caller = await chatCaller(control, c.req.header("authorization"));
  await control.routes.load();
  refuseStranger(control, caller);
  return caller;
}
