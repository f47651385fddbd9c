import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { accept, stopEndpoint } from "./endpoints.ts";
import { isServing } from "./transitions.ts";

/** Each is a process with its own weights. */
const MAX_AWAKE = 4;

/**
 * The endpoint of a checkpoint that somebody asked for by name: it sleeps soon after the last request, and makes
 * room when too many of its kind are awake.
 */
export function launchImplicit(control: Control, checkpoint: Checkpoint): Promise<Endpoint> {
  return control.gate.begin(() => acceptImplicit(control, checkpoint));
}

/** The same, for callers that hold the gate already. */
export async function acceptImplicit(control: Control, { id, model }: Checkpoint): Promise<Endpoint> {
  await makeRoom(control);
  const launch = { model, checkpoint: id, public: false, recreate: false, engine: "onnx" } as const;
  return accept(control, control.ids.next(), { ...launch, implicit: true });
}

async function makeRoom(control: Control): Promise<void> {
  await control.routes.load();
  const awake = control.routes.all().filter((each) => each.implicit && isServing(each) && each.desired > 0);
  if (awake.length < MAX_AWAKE) return;
  const idle = awake.find(({ name }) => {
    const { inFlight, queued } = control.load.snapshot(name);
    return inFlight + queued === 0;
  });
  if (idle === undefined) {
    throw new SpotterError("capacity", `${awake.length} checkpoints are being served at this moment.`, {
      where: "model",
      hint: "Try again in a minute, or launch an endpoint for this one.",
    });
  }
  await stopEndpoint(control, idle.name);
}
