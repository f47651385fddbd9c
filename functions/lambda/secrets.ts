import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { secretRoutes } from "../secrets/routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** Secrets: set, listed by name, removed. */
export const routes = (control: Control): Route[] => secretRoutes(control);

export const handler = httpFunction({ routes, adapters: { secrets, store } });
