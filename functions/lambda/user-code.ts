import { blobs } from "../aws/aws-deps/blobs.ts";
import { isolates } from "../aws/aws-deps/isolates.ts";
import { secrets } from "../aws/aws-deps/secrets.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import type { Route } from "../http/route.ts";
import { userCodeRoutes } from "../user-code/routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** Rewards, tools and environments of users: uploaded and tried out. */
export const routes = (control: Control): Route[] => userCodeRoutes(control);

export const handler = httpFunction({
  routes,
  adapters: { blobs, isolates, secrets, store },
  keepsText: true,
});
