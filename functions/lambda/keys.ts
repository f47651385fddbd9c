import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { keyRoutes } from "../keys/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** Keys, and the webhooks that are told of every run. */
export const routes = (control: Control): Route[] => [...keyRoutes(control), ...webhookRoutes(control)];

export const handler = httpFunction({ routes, adapters: { secrets, store } });
