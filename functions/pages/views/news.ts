import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { RunEvent } from "../../../sdk/schema/event.ts";
import type { Run } from "../../../sdk/schema/run.ts";
import type { Overview } from "./home-view.ts";

/** What the pages' streams carry, one message at a time. */
export type OverviewNews = Overview;

export interface EndpointNews {
  endpoint: Endpoint;
}

export interface RunNews {
  run: Run;
  /** Those after the ones told before, ascending; by `seq` one can tell what comes twice. */
  events: RunEvent[];
  /** The run has ended and nothing will follow. */
  done: boolean;
}
