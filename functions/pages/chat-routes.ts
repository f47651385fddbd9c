import { chatRequest } from "../../sdk/schema/chat.ts";
import type { Control } from "../control.ts";
import { forward } from "../gateway/chat.ts";
import type { Upstreams } from "../gateway/upstream.ts";
import { route, type Route } from "../http/route.ts";

/** The pages' chat, apart from their other routes: only what reaches the replicas can answer it. */
export function pageChatRoutes(control: Control, upstreams: Upstreams): Route[] {
  return [
    route({
      method: "post",
      path: "/ui/api/chat",
      access: "page",
      summary: "Chat with an endpoint, as /v1/chat/completions does for keys",
      documentedBody: chatRequest,
      response: "events",
      handle: ({ c }) =>
        forward(control, upstreams, c, { caller: { kind: "key" }, path: "/v1/chat/completions" }),
    }),
  ];
}
