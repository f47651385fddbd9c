import type { Endpoint, Replica } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { endpointTopic } from "../endpoints/records.ts";

/** A replica that takes requests now; undefined when none came within the time. Ended endpoints throw. */
export async function waitForReplica(
  control: Control,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Replica | undefined> {
  const listener = control.bus.listen(endpointTopic(name));
  try {
    const untilMs = control.clock.now() + timeoutMs;
    for (;;) {
      const endpoint = control.routes.find(name);
      if (endpoint === undefined) throw new SpotterError("model_not_found", `Endpoint "${name}" is gone.`);
      const replica = readyReplica(endpoint);
      if (replica !== undefined) return replica;
      refuseEnded(endpoint);
      if (signal.aborted || !(await listener.next(untilMs - control.clock.now(), signal))) return undefined;
    }
  } finally {
    listener.close();
  }
}

/** The newest one: after an update the old revision answers only until the new one is ready. */
export function readyReplica(endpoint: Endpoint): Replica | undefined {
  return endpoint.replicas.findLast((replica) => replica.state === "ready" && replica.address !== undefined);
}

export function notReady(name: string): SpotterError {
  return new SpotterError("endpoint_not_ready", `Endpoint "${name}" is still starting.`, {
    where: "model",
    hint: "Try again in a few seconds.",
  });
}

function refuseEnded(endpoint: Endpoint): void {
  if (endpoint.state !== "failed" && endpoint.state !== "stopped" && endpoint.state !== "stopping") return;
  const { name, state, failure } = endpoint;
  const why = failure ? `: ${failure.message.replace(/\.$/, "")}` : "";
  throw new SpotterError("endpoint_failed", `Endpoint "${name}" is ${state}${why}.`, {
    where: "model",
    hint: failure?.hint ?? `See \`spotter endpoint logs ${name}\`, then launch it again.`,
    status: 503,
  });
}
