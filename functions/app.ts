import { Hono, type Context } from "hono";
import { SpotterError } from "../sdk/schema/errors.ts";
import { createAutoscaler, type Autoscaler } from "./autoscaler/autoscaler.ts";
import { aliasRoutes } from "./aliases/routes.ts";
import { checkpointRoutes } from "./checkpoints/routes.ts";
import { cleanupRoutes } from "./cleanup/routes.ts";
import { createControl, type Control, type ControlOptions } from "./control.ts";
import { datasetRoutes } from "./datasets/routes.ts";
import type { Deps } from "./deps.ts";
import { endpointRoutes } from "./endpoints/routes.ts";
import { evalRoutes } from "./evals/routes.ts";
import { eventRoutes } from "./events/routes.ts";
import { allowBrowsers, preflight } from "./gateway/cors.ts";
import { isGatewayPath, routedPath } from "./gateway/paths.ts";
import { nodeChat, type NodeChat } from "./gateway/node-chat.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { unknownUrl } from "./gateway/unknown-url.ts";
import { createUpstreams, type Upstreams } from "./gateway/upstream.ts";
import { errorResponse, newRequestId } from "./http/errors.ts";
import { checkHost } from "./http/host-check.ts";
import { register } from "./http/register.ts";
import type { Route } from "./http/route.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { endObservation } from "./observability/observe.ts";
import { observabilityRoutes } from "./observability/routes.ts";
import { pageRoutes } from "./pages/routes.ts";
import { createReconciler, type Reconciler } from "./reconciler/reconciler.ts";
import { runRoutes } from "./runs/routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { statusRoutes } from "./status/routes.ts";
import { userCodeRoutes } from "./user-code/routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { sendOverHttp, type Send } from "./webhooks/send.ts";
import { createWebhooks, type Webhooks } from "./webhooks/webhooks.ts";

export interface ControlPlane {
  app: Hono;
  /** The short way for chat, where the host is a server of Node's own. */
  chat: NodeChat;
  control: Control;
  reconciler: Reconciler;
  autoscaler: Autoscaler;
  webhooks: Webhooks;
  /** Ends what this process owns of it. Containers and ports belong to whoever made the deps. */
  close(): Promise<void>;
}

/** The whole control plane over its ports. Nothing in it reads the environment. */
export function createControlPlane(
  deps: Deps,
  options: Pick<ControlOptions, "rootKeyHash" | "shutdown"> &
    Partial<Pick<ControlOptions, "probe">> & { send?: Send },
): ControlPlane {
  const upstreams = createUpstreams();
  const { send = sendOverHttp, ...rest } = options;
  const control = createControl(deps, {
    probe: (address, accessKey) => upstreams.probe(address, accessKey),
    ...rest,
    wake: () => reconciler.wake(),
    wakeWebhooks: () => webhooks.wake(),
  });
  const reconciler = createReconciler(control);
  const autoscaler = createAutoscaler(control);
  const webhooks = createWebhooks(control, send);
  // While the first container comes up there is time to load the way to it.
  const stopWarming = deps.containers.onChange(() => upstreams.warm());
  return {
    app: createApp(control, upstreams),
    chat: nodeChat(control, upstreams),
    control,
    reconciler,
    autoscaler,
    webhooks,
    async close() {
      stopWarming();
      await autoscaler.close();
      await reconciler.close();
      await webhooks.close();
      await control.usage.close();
      control.slots.close();
      control.pulse.close();
      await upstreams.close();
    },
  };
}

export function createApp(control: Control, upstreams: Upstreams): Hono {
  const app = new Hono({ getPath: routedPath });
  const routes = allRoutes(control, upstreams);
  app.onError((error, c) => errorResponse(control, c, error));
  app.notFound((c) => {
    if (isGatewayPath(c.req.path)) return notInGateway(control, routes, c);
    const error = new SpotterError("not_found", `There is no route ${c.req.method} ${c.req.path}.`, {
      hint: "openapi.json lists the routes.",
    });
    return errorResponse(control, c, error);
  });
  app.use(async (c, next) => {
    (c.set as (key: string, value: string) => void)("requestId", newRequestId(control, c));
    checkHost(c, control.config.publicUrl());
    await next();
    endObservation(control, c);
    if (isGatewayPath(c.req.path)) allowBrowsers(c.res.headers);
  });
  for (const route of routes) register(app, control, route);
  return app;
}

function notInGateway(control: Control, routes: Route[], c: Context): Promise<Response> | Response {
  const { method, path } = c.req;
  if (method === "OPTIONS") return preflight(c.req.header("access-control-request-headers"));
  return errorResponse(control, c, unknownUrl(control, routes, method, path));
}

/** Every route there is; the tests and openapi.json are made from this list. */
export function allRoutes(control: Control, upstreams: Upstreams): Route[] {
  return [
    ...statusRoutes(control),
    ...observabilityRoutes(control),
    ...endpointRoutes(control),
    ...aliasRoutes(control),
    ...runRoutes(control),
    ...eventRoutes(control),
    ...checkpointRoutes(control),
    ...cleanupRoutes(control),
    ...evalRoutes(control),
    ...datasetRoutes(control),
    ...modelRoutes(control),
    ...userCodeRoutes(control),
    ...keyRoutes(control),
    ...secretRoutes(control),
    ...webhookRoutes(control),
    ...jobRoutes(control),
    ...gatewayRoutes(control, upstreams),
    ...pageRoutes(control, upstreams),
  ];
}
