import { SpotterError } from "../../sdk/schema/errors.ts";

/** It refused or reset the connection before it answered. */
export function unreachable(cause: Error): SpotterError {
  return new SpotterError("container_failed", "The replica did not answer.", {
    where: "model",
    hint: "It is restarted by itself; try again in a few seconds.",
    status: 502,
    retryable: true,
    cause,
  });
}

/** Part of its answer is with the client already. */
export function brokenOff(cause: Error): SpotterError {
  return new SpotterError("container_failed", "The replica stopped in the middle of its answer.", {
    hint: "Ask again.",
    status: 502,
    cause,
  });
}

export function silent(): SpotterError {
  return new SpotterError("timeout", "The replica said nothing for ten minutes.", { where: "model" });
}
