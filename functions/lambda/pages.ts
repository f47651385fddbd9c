import { blobs } from "../aws/aws-deps/blobs.ts";
import { containers } from "../aws/aws-deps/containers.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { observabilityRoutes } from "../observability/routes.ts";
import { pageRoutes } from "../pages/routes.ts";
import { statusRoutes } from "../status/routes.ts";
import { streamingFunction } from "./host/http-function.ts";

/** A browser that is gone is not told of here; one that still looks connects again by itself. */
const MAX_STREAM_MS = 25_000;

/** The pages, and what is told of the whole: everything that no other function answers. */
export const routes = (control: Control): Route[] => [
  ...statusRoutes(control),
  ...observabilityRoutes(control),
  ...pageRoutes(control),
];

export const handler = streamingFunction({
  routes,
  adapters: { blobs, containers, secrets, store },
  maxStreamMs: MAX_STREAM_MS,
});
