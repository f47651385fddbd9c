import { blobs } from "../aws/aws-deps/blobs.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { gatewayRoutes } from "../gateway/routes.ts";
import { createUpstreams } from "../gateway/upstream.ts";
import type { Route } from "../http/route.ts";
import { pageChatRoutes } from "../pages/chat-routes.ts";
import { streamingFunction } from "./host/http-function.ts";

const upstreams = createUpstreams();

/** The gateway of a stack that has no gateway container: each chat is a function that runs as long as it. */
export const routes = (control: Control): Route[] => [
  ...gatewayRoutes(control, upstreams),
  ...pageChatRoutes(control, upstreams),
];

export const handler = streamingFunction({
  routes,
  adapters: { blobs, secrets, store },
  // What it has to do is written down for the scaler, before and after: in between it is one of the gateways.
  beforeEach: (control) => control.fleet.join(),
  // Counts are written each second; this function may stand still before the next.
  afterEach: async (control) => {
    await Promise.all([control.usage.flush(), control.fleet.join()]);
  },
});
