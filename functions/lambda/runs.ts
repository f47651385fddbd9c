import { blobs } from "../aws/aws-deps/blobs.ts";
import { containers } from "../aws/aws-deps/containers.ts";
import { isolates } from "../aws/aws-deps/isolates.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import { checkpointRoutes } from "../checkpoints/routes.ts";
import { cleanupRoutes } from "../cleanup/routes.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { runRoutes } from "../runs/routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** Runs, what they leave behind, and its removal. */
export const routes = (control: Control): Route[] => [
  ...runRoutes(control),
  ...checkpointRoutes(control),
  ...cleanupRoutes(control),
];

export const handler = httpFunction({
  routes,
  adapters: { blobs, containers, isolates, secrets, store },
  keepsText: true,
});
