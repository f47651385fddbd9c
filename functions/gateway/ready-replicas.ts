import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { revisionOfServeJob } from "../jobs/records.ts";
import { hashOf } from "./affinity.ts";

/** A replica that takes requests, with what routing needs of it. */
export interface ReadyReplica {
  jobId: string;
  address: string;
  /** Mixed with a conversation's hash it says how well the two belong together. */
  hash: number;
  /** Header that it asks of its callers; filled in with the first request. */
  authorization?: string;
}

const known = new WeakMap<Endpoint, readonly ReadyReplica[]>();

/** The ready replicas of the newest revision that has any: after an update the old one answers until then. */
export function readyReplicas(endpoint: Endpoint): readonly ReadyReplica[] {
  const before = known.get(endpoint);
  if (before !== undefined) return before;
  const ready = endpoint.replicas.flatMap(({ jobId, state, address }) =>
    state === "ready" && address !== undefined ? [{ jobId, address, hash: hashOf(jobId) }] : [],
  );
  const newest = ready.reduce((max, { jobId }) => Math.max(max, revisionOfServeJob(jobId)), 0);
  const current = ready.filter(({ jobId }) => revisionOfServeJob(jobId) === newest);
  // Records are replaced, never changed, so a list is right for as long as its record is the current one.
  known.set(endpoint, current);
  return current;
}
