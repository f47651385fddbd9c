import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { Failure } from "../../sdk/schema/errors.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** How long requests wait for a replica, in what is in front of this gateway. */
export interface Holds {
  /** A request without stream. */
  jsonMs: number;
  /** A stream's headers are held this long; then it gets its 200, and comments while it waits on. */
  headersMs: number;
  /** A stream. */
  streamMs: number;
}

/** Stock clients give up after 300 s. */
export const HOLDS: Holds = { jsonMs: 280_000, headersMs: 50_000, streamMs: 600_000 };

/** CloudFront gives up on an origin that is silent for 120 s, or for 30 s where nobody asked it for more. */
export const CLOUDFRONT_HOLDS: Holds = { jsonMs: 110_000, headersMs: 20_000, streamMs: 600_000 };

/** The longest wait for a replica: the endpoint's own limit, but never longer than clients can wait. */
export function holdMs(isStream: boolean, endpointHoldMs: number, holds: Holds = HOLDS): number {
  return Math.min(endpointHoldMs, isStream ? holds.streamMs : holds.jsonMs);
}

/** The wait is over: none came up, or those that are there have all they can do. */
export function waitedTooLong(name: string, hasReplica: boolean, failure?: Failure): SpotterError {
  if (hasReplica) {
    return new SpotterError("capacity", `Every replica of endpoint "${name}" was busy for too long.`, {
      where: "model",
      hint: "Try again later, or let it have more replicas.",
    });
  }
  // Its replicas wait for an instance, not for the model to load.
  if (failure?.code === "no_capacity") {
    return new SpotterError("no_capacity", `Endpoint "${name}" has no replica: ${failure.message}`, {
      where: "model",
      hint: failure.hint,
    });
  }
  return new SpotterError("endpoint_not_ready", `Endpoint "${name}" is still starting.`, {
    where: "model",
    hint: "Try again in a few seconds.",
  });
}

export function queueFull(name: string, limit: number): SpotterError {
  return new SpotterError("queue_full", `${limit} requests wait for endpoint "${name}" already.`, {
    hint: "Try again in a few seconds, or raise its queueLimit.",
  });
}

/** What somebody who waits for this endpoint is told when it will not come any more; undefined while it may. */
export function endedError(name: string, endpoint: Endpoint | undefined): SpotterError | undefined {
  if (endpoint === undefined) return new SpotterError("model_not_found", `Endpoint "${name}" is gone.`);
  if (endpoint.state !== "failed" && endpoint.state !== "stopped" && endpoint.state !== "stopping")
    return undefined;
  const { state, failure } = endpoint;
  const isForWantOfRoom = state === "failed" && failure?.code === "no_capacity";
  const why = failure ? `: ${failure.message.replace(/\.$/, "")}` : "";
  return new SpotterError(
    isForWantOfRoom ? "no_capacity" : "endpoint_failed",
    `Endpoint "${name}" is ${state}${why}.`,
    {
      where: "model",
      hint: failure?.hint ?? `See \`spotter endpoint logs ${name}\`, then launch it again.`,
      status: 503,
    },
  );
}
