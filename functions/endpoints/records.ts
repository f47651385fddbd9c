import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { DocumentKey, IndexEntry } from "../ports/store.ts";
import { update } from "../records/update.ts";

/** An endpoint as stored: what people see, and what only the reconciler needs. */
export interface EndpointDocument {
  v: 1;
  endpoint: Endpoint;
  /** Replicas ever launched under this name; numbers their jobs. */
  launches: number;
  /** The launch that changed it last. */
  launchId?: string;
  /** Revision of each replica in `endpoint.replicas`, by job id. */
  revisions: Record<string, number>;
  /** Replicas for which there was no room, so that the next took other hardware. */
  withoutRoom?: number;
  /** No replica is launched before this time. */
  retryAtMs?: number;
}

export const ENDPOINTS = "endpoints";

export function endpointKey(name: string): DocumentKey {
  return { partition: ENDPOINTS, sort: name };
}

export function endpointTopic(name: string): string {
  return `endpoint/${name}`;
}

export async function findEndpoint(control: Control, name: string): Promise<EndpointDocument | undefined> {
  return (await control.store.get<EndpointDocument>(endpointKey(name)))?.value;
}

export async function getEndpoint(control: Control, name: string): Promise<EndpointDocument> {
  const document = await findEndpoint(control, name);
  if (document === undefined) {
    throw new SpotterError("not_found", `There is no endpoint "${name}".`, {
      where: name,
      hint: "`spotter endpoint list` shows the endpoints.",
    });
  }
  return document;
}

/** The only writer of endpoint documents: keeps the index, the route table and the waiters up to date. */
export async function changeEndpoint(
  control: Control,
  name: string,
  change: (current: EndpointDocument | undefined) => EndpointDocument | undefined,
): Promise<EndpointDocument | undefined> {
  const document = await update<EndpointDocument>(control.store, endpointKey(name), (current) => {
    const next = change(current?.value);
    return next && { value: next, indexes: indexesOf(next) };
  });
  if (document === undefined) return undefined;
  control.routes.set(document.value.endpoint, document.version);
  control.bus.notify(endpointTopic(name));
  return document.value;
}

function indexesOf({ endpoint }: EndpointDocument): IndexEntry[] {
  const settled = endpoint.state === "stopped" || endpoint.state === "failed";
  return settled && endpoint.replicas.length === 0
    ? []
    : [{ index: "live", partition: ENDPOINTS, sort: endpoint.name }];
}
