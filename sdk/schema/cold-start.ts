import type { Endpoint } from "./endpoint.ts";

/**
 * How long the newest replica that answers took to get there, in milliseconds: from the decision to start it,
 * waiting for capacity included, to its first successful probe. Undefined while none has answered.
 */
export function coldStartMs({ replicas }: Pick<Endpoint, "replicas">): number | undefined {
  const { createdAtMs, readyAtMs } = replicas.findLast((each) => each.readyAtMs !== undefined) ?? {};
  return readyAtMs === undefined || createdAtMs === undefined ? undefined : readyAtMs - createdAtMs;
}
