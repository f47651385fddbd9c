import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { eventRoutes } from "../events/routes.ts";
import type { Route } from "../http/route.ts";
import { httpFunction } from "./host/http-function.ts";

/**
 * Events of runs, by polls that wait up to 25 seconds. Streams of them are the gateway's: a function would be
 * paid for as long as somebody listens, and does not hear of it when nobody does any more.
 */
export const routes = (control: Control): Route[] =>
  eventRoutes(control).filter(({ response }) => response !== "events");

export const handler = httpFunction({ routes, adapters: { store } });
