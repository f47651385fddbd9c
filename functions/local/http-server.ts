import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { ControlPlane } from "../app.ts";

/** The server of a control plane, not listening yet. Whoever makes it ends it. */
export function createHttpServer({ app }: Pick<ControlPlane, "app">): Server {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  // Node gives a request five minutes to arrive; a dataset may need longer.
  server.requestTimeout = 0;
  return server;
}
