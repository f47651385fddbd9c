import { Hono, type Context } from "hono";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { allowBrowsers, preflight } from "../gateway/cors.ts";
import { isGatewayPath, routedPath } from "../gateway/paths.ts";
import { unknownUrl } from "../gateway/unknown-url.ts";
import { endObservation } from "../observability/observe.ts";
import { errorResponse, newRequestId } from "./errors.ts";
import { checkHost } from "./host-check.ts";
import { register } from "./register.ts";
import type { Route } from "./route.ts";

/**
 * An app that answers these routes and no others. It imports no route by itself: what is deployed as a
 * function of its own carries only what it answers.
 */
export function createApp(control: Control, routes: readonly Route[]): Hono {
  const app = new Hono({ getPath: routedPath });
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

function notInGateway(control: Control, routes: readonly Route[], c: Context): Promise<Response> | Response {
  const { method, path } = c.req;
  if (method === "OPTIONS") return preflight(c.req.header("access-control-request-headers"));
  return errorResponse(control, c, unknownUrl(control, routes, method, path));
}
