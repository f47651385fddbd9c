import type { Hono } from "hono";
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
import { nodeChat, type NodeChat } from "./gateway/node-chat.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { createUpstreams, type Upstreams } from "./gateway/upstream.ts";
import { createApp } from "./http/create-app.ts";
import type { Route } from "./http/route.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { observabilityRoutes } from "./observability/routes.ts";
import { pageChatRoutes } from "./pages/chat-routes.ts";
import { pageEvalRoutes } from "./pages/eval-routes.ts";
import { pageRoutes } from "./pages/routes.ts";
import { createReconciler, type Reconciler } from "./reconciler/reconciler.ts";
import { runRoutes } from "./runs/routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { trackerHttp, type TrackerHttp } from "./trackers/tracker-http.ts";
import { createTrackers, type Trackers } from "./trackers/trackers.ts";
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
  trackers: Trackers;
  /** Ends what this process owns of it. Containers and ports belong to whoever made the deps. */
  close(): Promise<void>;
}

/** The whole control plane over its ports. Nothing in it reads the environment. */
export function createControlPlane(
  deps: Deps,
  options: Pick<ControlOptions, "rootKeyHash" | "shutdown"> &
    Partial<Pick<ControlOptions, "probe">> & { send?: Send; trackerHttp?: TrackerHttp },
): ControlPlane {
  const upstreams = createUpstreams();
  const { shared } = deps;
  const { send = sendOverHttp, trackerHttp: http = trackerHttp, ...rest } = options;
  const control = createControl(deps, {
    probe: (address, accessKey) => upstreams.probe(address, accessKey),
    ...rest,
    wake: shared ? () => shared.wake("reconciler") : () => reconciler.wake(),
    wakeWebhooks: shared ? () => shared.wake("webhooks") : wakeTellers,
  });
  const reconciler = createReconciler(control);
  const autoscaler = createAutoscaler(control);
  const webhooks = createWebhooks(control, send);
  const trackers = createTrackers(control, http);
  function wakeTellers(): void {
    webhooks.wake();
    trackers.wake();
  }
  // While the first container comes up there is time to load the way to it.
  const stopWarming = deps.containers.onChange(() => upstreams.warm());
  return {
    app: createApp(control, allRoutes(control, upstreams)),
    chat: nodeChat(control, upstreams),
    control,
    reconciler,
    autoscaler,
    webhooks,
    trackers,
    async close() {
      stopWarming();
      await autoscaler.close();
      await reconciler.close();
      await webhooks.close();
      await trackers.close();
      await control.usage.close();
      control.slots.close();
      control.pulse.close();
      await control.closeShared();
      await upstreams.close();
    },
  };
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
    ...pageRoutes(control),
    ...pageEvalRoutes(control),
    ...pageChatRoutes(control, upstreams),
  ];
}
