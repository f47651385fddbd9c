import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { ControlPlane } from "../app.ts";

const KEEP_ALIVE_MS = 75_000;

/** The server of a control plane, not listening yet. Whoever makes it ends it. */
export function createHttpServer({ app, chat }: Pick<ControlPlane, "app" | "chat">): Server {
  const rest = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    if (!chat(request, response)) void rest(request, response);
  });
  // Node gives a request five minutes to arrive; a dataset may need longer.
  server.requestTimeout = 0;
  // Longer than clients and proxies keep an idle connection: whoever closes first must not be us, or a request
  // that is on its way is lost.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}
