import { blobs } from "../aws/aws-deps/blobs.ts";
import { containers } from "../aws/aws-deps/containers.ts";
import { isolates } from "../aws/aws-deps/isolates.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { evalRoutes } from "../evals/routes.ts";
import type { Route } from "../http/route.ts";
import { pageEvalRoutes } from "../pages/eval-routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** Evals: launched, also by the pages, listed, their scores. */
export const routes = (control: Control): Route[] => [...evalRoutes(control), ...pageEvalRoutes(control)];

export const handler = httpFunction({
  routes,
  adapters: { blobs, containers, isolates, secrets, store },
  keepsText: true,
});
