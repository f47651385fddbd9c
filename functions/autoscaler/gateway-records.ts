import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { LoadBook } from "../gateway/load.ts";
import type { Document, DocumentKey, Store } from "../ports/store.ts";

/** What one gateway has to do, as it writes it down every two seconds. It is the only writer. */
export interface GatewayDocument {
  v: 1;
  id: string;
  /** By this gateway's clock. */
  heartbeatAtMs: number;
  /** By endpoint. Those that were never asked for are left out. */
  load: Record<string, PublishedLoad>;
  /** Requests in flight by job id of their replica, where there are any. */
  inFlight: Record<string, number>;
  /** Replicas that this gateway gives no more requests to. Any other may be given one at any time. */
  draining: string[];
}

/** Counters as in `EndpointLoad`, with a time that needs no common clock. */
export interface PublishedLoad {
  inFlight: number;
  queued: number;
  accepted: number;
  demandMs: number;
  busyMs: number;
  sinceAcceptedMs: number;
}

export const GATEWAYS = "gateways";
/** Of a gateway that was killed while no other one ran. Longer than clocks may differ. */
const FORGOTTEN_MS = 300_000;

export function gatewayKey(id: string): DocumentKey {
  return { partition: GATEWAYS, sort: id };
}

export async function gatewayDocuments(store: Store): Promise<Document<GatewayDocument>[]> {
  return (await store.query<GatewayDocument>(GATEWAYS, { limit: 1_000 })).items;
}

/** What a gateway has to do now. */
export function gatewayDocument(
  id: string,
  nowMs: number,
  endpoints: Endpoint[],
  book: LoadBook,
): GatewayDocument {
  const document: GatewayDocument = {
    v: 1,
    id,
    heartbeatAtMs: nowMs,
    load: {},
    inFlight: {},
    draining: endpoints.flatMap(({ replicas }) =>
      replicas.flatMap(({ jobId, state }) => (state === "draining" ? [jobId] : [])),
    ),
  };
  for (const { name } of endpoints) {
    const { lastAcceptedAtMs, inFlightByReplica, ...load } = book.snapshot(name);
    if (lastAcceptedAtMs === undefined) continue;
    const { inFlight, queued, accepted, demandMs, busyMs } = load;
    const sinceAcceptedMs = Math.max(0, nowMs - lastAcceptedAtMs);
    document.load[name] = { inFlight, queued, accepted, demandMs, busyMs, sinceAcceptedMs };
    for (const [jobId, count] of inFlightByReplica) document.inFlight[jobId] = count;
  }
  return document;
}

/**
 * Requests that a replica may be working on, by what gateways wrote down. One that does not know yet that the
 * replica drains may give it a request at any time.
 */
export function inFlightBy(
  documents: GatewayDocument[],
  { jobId, state }: { jobId: string; state: string },
  nowMs: number,
): number {
  let sum = 0;
  for (const { heartbeatAtMs, inFlight, draining } of documents) {
    if (nowMs - heartbeatAtMs > FORGOTTEN_MS) continue;
    const least = state === "draining" && !draining.includes(jobId) ? 1 : 0;
    sum += Math.max(least, inFlight[jobId] ?? 0);
  }
  return sum;
}
