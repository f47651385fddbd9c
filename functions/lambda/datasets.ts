import { blobs } from "../aws/aws-deps/blobs.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { datasetRoutes } from "../datasets/routes.ts";
import type { Route } from "../http/route.ts";
import { modelRoutes } from "../models/routes.ts";
import { httpFunction } from "./host/http-function.ts";

/** What is uploaded: datasets and models. */
export const routes = (control: Control): Route[] => [...datasetRoutes(control), ...modelRoutes(control)];

export const handler = httpFunction({ routes, adapters: { blobs, store } });
