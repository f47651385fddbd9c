import type { EndpointState, Endpoint } from "../../sdk/schema/endpoint.ts";
import { nextState, type Table } from "../records/state-table.ts";

export type EndpointChange = "launch" | "replace" | "ready" | "lost" | "stop" | "stopped" | "fail";

/** from × change → to. A pair that is not here is a bug and throws. */
export const ENDPOINT_TABLE: Table<EndpointState, EndpointChange> = {
  creating: { ready: "ready", lost: "creating", replace: "creating", stop: "stopping", fail: "failed" },
  ready: { lost: "updating", replace: "updating", stop: "stopping", fail: "failed" },
  updating: { ready: "ready", lost: "updating", replace: "updating", stop: "stopping", fail: "failed" },
  stopping: { launch: "creating", replace: "creating", stopped: "stopped" },
  stopped: { launch: "creating", replace: "creating" },
  failed: { launch: "creating", replace: "creating", stop: "stopping" },
};

export function nextEndpointState(from: EndpointState, change: EndpointChange): EndpointState {
  return nextState("endpoint", ENDPOINT_TABLE, from, change);
}

/** Whether chat may still be answered, now or after a wait. */
export function isServing(endpoint: Endpoint): boolean {
  return endpoint.state === "creating" || endpoint.state === "ready" || endpoint.state === "updating";
}
