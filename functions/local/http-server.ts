import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { ControlPlane } from "../app.ts";

/** The server of a control plane, not listening yet. Whoever makes it ends it. */
export function createHttpServer({ app, chat }: Pick<ControlPlane, "app" | "chat">): Server {
  const rest = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    if (!chat(request, response)) void rest(request, response);
  });
  // Node gives a request five minutes to arrive; a dataset may need longer.
  server.requestTimeout = 0;
  return server;
}
