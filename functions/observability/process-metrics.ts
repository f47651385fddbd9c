import type * as prom from "prom-client";

type PromClient = Pick<typeof prom, "Registry" | "collectDefaultMetrics">;

/** Coarse enough to cost an idle process nothing that shows. */
const LAG_PRECISION_MS = 20;

let registry: prom.Registry | undefined;

/** CPU, memory, file descriptors, event-loop lag and garbage collection: one registry for the whole process. */
export function processMetrics({ Registry, collectDefaultMetrics }: PromClient): prom.Registry {
  if (registry !== undefined) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  return registry;
}
