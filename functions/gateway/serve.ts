import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Health } from "../../sdk/schema/status.ts";
import { createAutoscaler } from "../autoscaler/autoscaler.ts";
import { createControl, type Control } from "../control.ts";
import type { Deps, Shared } from "../deps.ts";
import { eventRoutes } from "../events/routes.ts";
import { createApp } from "../http/create-app.ts";
import { createHttpServer } from "../http/http-server.ts";
import { observabilityRoutes } from "../observability/routes.ts";
import { pageChatRoutes } from "../pages/chat-routes.ts";
import { drain, DRAIN_TIMES, endingError, type DrainTimes } from "./drain.ts";
import {
  asPublicHost,
  IDLE_CONNECTION_MS,
  isThroughFrontDoor,
  ORIGIN_HEADER,
  type FrontDoor,
} from "./front-door.ts";
import { nodeChat } from "./node-chat.ts";
import { gatewayRoutes } from "./routes.ts";
import { createUpstreams } from "./upstream.ts";

export interface GatewayOptions {
  /** 0: any that is free. */
  port: number;
  host: string;
  /** What the front door proves itself with, see {@link FrontDoor}. */
  originSecret?: string | undefined;
  drainTimes?: DrainTimes;
}

export interface Gateway {
  port: number;
  control: Control;
  /**
   * Lets others decide, takes no more requests, waits for those under way, and leaves the other gateways. Ports
   * belong to whoever made the deps.
   */
  close(): Promise<void>;
}

type GatewayDeps = Deps & { shared: Shared };

/**
 * One of the gateways of a control plane of several processes: chat, streams of events and metrics. Of all of them
 * one decides how many replicas there are.
 */
export async function startGateway(deps: GatewayDeps, options: GatewayOptions): Promise<Gateway> {
  const { shared, config } = deps;
  const upstreams = createUpstreams();
  const control = createControl(deps, {
    wake: () => shared.wake("reconciler"),
    wakeWebhooks: () => shared.wake("webhooks"),
    probe: (address, accessKey) => upstreams.probe(address, accessKey),
    shutdown: () => undefined,
  });
  const autoscaler = createAutoscaler(control);
  const app = createApp(control, [
    ...gatewayRoutes(control, upstreams),
    ...pageChatRoutes(control, upstreams),
    ...eventRoutes(control),
    ...observabilityRoutes(control),
  ]);
  const chat = nodeChat(control, upstreams);
  const door: FrontDoor = { secret: options.originSecret, publicUrl: config.publicUrl };
  const endless = new Set<ServerResponse>();
  let isEnding = false;

  /** Says with false that the request is for the app. */
  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = "" } = request;
    if (isEnding) response.setHeader("connection", "close");
    // Load balancers ask this, under whatever name, and know no secret.
    if (HEALTH.has(url)) return answerHealth(response, config.version, isEnding);
    if (!isThroughFrontDoor(request, door)) return answerError(response, notByFrontDoor(config.publicUrl()));
    asPublicHost(request, door);
    if (EVENT_STREAM.test(url)) {
      endless.add(response);
      response.on("close", () => endless.delete(response));
    }
    return chat(request, response);
  }

  const server = createHttpServer({ app, chat: answer });
  server.keepAliveTimeout = IDLE_CONNECTION_MS;

  async function closePlane(): Promise<void> {
    await autoscaler.close();
    await control.usage.close();
    control.slots.close();
    control.pulse.close();
    await control.closeShared();
    await upstreams.close();
  }

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    isEnding = true;
    // First of all: the next one need not wait for the streams here.
    await autoscaler.close();
    await drain({
      clock: deps.clock,
      server,
      slots: control.slots,
      endless,
      ...(options.drainTimes ?? DRAIN_TIMES),
    });
    await closePlane();
  }

  try {
    // Nobody is let in before this gateway knows the endpoints and its share of everybody's limits.
    await Promise.all([control.routes.load(), control.aliases.load()]);
    await control.fleet.join();
    await autoscaler.start();
    await listen(server, options);
  } catch (error) {
    await closePlane();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return { port, control, close: () => (closing ??= close()) };
}

const HEALTH: ReadonlySet<string> = new Set(["/health", "/healthz"]);
const EVENT_STREAM = /^\/runs\/[^/]+\/events\/stream(\?|$)/;

function listen(server: Server, { port, host }: GatewayOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function answerHealth(response: ServerResponse, version: string, isEnding: boolean): true {
  // Whoever asks sends new requests elsewhere from here on.
  if (isEnding) return answerError(response, endingError());
  json(response, 200, { ok: true, name: "spotter", version } satisfies Health);
  return true;
}

function notByFrontDoor(publicUrl: string): SpotterError {
  return new SpotterError("forbidden", "This address is for Spotter's own front door only.", {
    where: ORIGIN_HEADER,
    hint: `Use ${publicUrl}.`,
  });
}

function answerError(response: ServerResponse, error: SpotterError): true {
  json(response, error.status, error.toBody());
  return true;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}
