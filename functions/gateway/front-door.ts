import type { IncomingMessage } from "node:http";
import { sameHash, sha256Of } from "../records/hash.ts";

/** What the front door adds to each request on its way here. */
export const ORIGIN_HEADER = "x-spotter-origin";

/**
 * How long a connection without a request stays open here: longer than at the load balancer (4000 s), which would
 * send the next request into one that was just closed, and answer it 502.
 */
export const IDLE_CONNECTION_MS = 4_060_000;

export interface FrontDoor {
  /** What only the front door knows. Undefined: whoever reaches this gateway may ask. */
  secret?: string | undefined;
  publicUrl: () => string;
}

/** Whether a request came by the front door. */
export function isThroughFrontDoor({ headers }: IncomingMessage, { secret }: FrontDoor): boolean {
  if (secret === undefined) return true;
  const shown = headers[ORIGIN_HEADER];
  // Hashes are of one length, so that the time this takes tells nothing of the secret.
  return typeof shown === "string" && sameHash(sha256Of(shown), sha256Of(secret));
}

/**
 * Gives a request the host that its sender asked for: front doors ask under names of their own. No page can point
 * another name here, as nobody's browser reaches a gateway under a name that a page could choose.
 */
export function asPublicHost(request: IncomingMessage, { publicUrl }: FrontDoor): void {
  const { host } = new URL(publicUrl());
  request.headers.host = host;
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === "host") rawHeaders[index + 1] = host;
}
