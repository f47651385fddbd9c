import { aliasRoutes } from "../aliases/routes.ts";
import { blobs } from "../aws/aws-deps/blobs.ts";
import { containers } from "../aws/aws-deps/containers.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { endpointRoutes } from "../endpoints/routes.ts";
import type { Route } from "../http/route.ts";
import { httpFunction } from "./host/http-function.ts";

/** Endpoints and the aliases of them. */
export const routes = (control: Control): Route[] => [...endpointRoutes(control), ...aliasRoutes(control)];

export const handler = httpFunction({ routes, adapters: { blobs, containers, secrets, store } });
