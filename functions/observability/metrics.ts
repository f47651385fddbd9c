import type { Control } from "../control.ts";
import type { RequestRecord, RequestSink } from "./observer.ts";
import { processMetrics } from "./process-metrics.ts";
import { requestMetrics } from "./request-metrics.ts";
import { stateMetrics } from "./state-metrics.ts";

/** Finished requests that wait to be counted. Counting them together keeps it out of the way of each. */
const BATCH = 100;

export interface Metrics extends RequestSink {
  ended(record: RequestRecord): void;
  /** Everything in Prometheus's text format. */
  render(): Promise<{ contentType: string; text: string }>;
}

/**
 * The metrics of one control plane. The library comes with the first scrape, or the hundredth request: a daemon
 * that starts has neither.
 */
export function createMetrics(control: Parameters<typeof stateMetrics>[2] & Pick<Control, "log">): Metrics {
  let pending: RequestRecord[] = [];
  let loaded: Promise<Awaited<ReturnType<typeof load>>> | undefined;

  async function load() {
    const { default: prom } = await import("prom-client");
    const own = new prom.Registry();
    const count = requestMetrics(prom, own);
    stateMetrics(prom, own, control);
    return { count, registry: prom.Registry.merge([processMetrics(prom), own]) };
  }

  async function countPending(): Promise<Awaited<ReturnType<typeof load>>> {
    const library = await (loaded ??= load());
    const records = pending;
    pending = [];
    for (const record of records) library.count(record);
    return library;
  }

  return {
    ended(record) {
      pending.push(record);
      if (pending.length % BATCH !== 0) return;
      countPending().catch((error: unknown) => control.log.error("requests are not counted", { error }));
    },
    async render() {
      await control.routes.load();
      const { registry } = await countPending();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
