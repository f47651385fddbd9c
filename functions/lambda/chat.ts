import { blobs } from "../aws/aws-deps/blobs.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { CLOUDFRONT_HOLDS } from "../gateway/hold.ts";
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

/** Shorter ones are over before anybody has heard of them. */
const HEARD_OF_MS = 1_000;
let joining: Promise<void> | undefined;
let begunAtMs = 0;

export const handler = streamingFunction({
  routes,
  adapters: { blobs, secrets, store },
  holds: CLOUDFRONT_HOLDS,
  // This function is one of the gateways while it answers: what it has to do is written down for the scaler.
  beforeEach: async (control) => {
    begunAtMs = control.clock.now();
    await (joining ??= join(control));
  },
  // Counts are written each second; this function may stand still before the next.
  afterEach: async (control) => {
    const wasHeardOf = control.clock.now() - begunAtMs > HEARD_OF_MS;
    await Promise.all([control.usage.flush(), wasHeardOf && control.fleet.join()]);
  },
});

async function join(control: Control): Promise<void> {
  try {
    await control.fleet.join();
  } catch (error) {
    joining = undefined;
    throw error;
  }
}
