import type { Endpoint, LaunchEndpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { defaultName, identityDifferences } from "./identity.ts";
import { pinnedModel } from "../models/models.ts";
import { changeEndpoint, getEndpoint, type EndpointDocument } from "./records.ts";
import { isServing, nextEndpointState } from "./transitions.ts";

/**
 * Launches an endpoint, or finds the one that the same launch made before. Returns at once; the reconciler
 * starts the replica. The same name with another identity is a `conflict` unless `recreate`.
 */
export function launchEndpoint(control: Control, asked: LaunchEndpoint): Promise<Endpoint> {
  return control.gate.begin(() => accept(control, asked));
}

async function accept(control: Control, asked: LaunchEndpoint): Promise<Endpoint> {
  const launch = { ...asked, model: await pinnedModel(control, asked.model) };
  if (launch.checkpoint !== undefined) await checkCheckpoint(control, launch, launch.checkpoint);
  const name = launch.name ?? defaultName(launch);
  const document = await changeEndpoint(control, name, (current) =>
    current === undefined ? create(control, name, launch) : relaunch(current, launch),
  );
  control.wake();
  return required(document).endpoint;
}

/** Changes in place what is not part of the identity. */
export async function updateEndpoint(
  control: Control,
  name: string,
  changes: { public?: boolean | undefined },
): Promise<Endpoint> {
  await getEndpoint(control, name);
  const document = await changeEndpoint(
    control,
    name,
    (current) =>
      current && {
        ...current,
        endpoint: { ...current.endpoint, public: changes.public ?? current.endpoint.public },
      },
  );
  return required(document).endpoint;
}

/** Stops an endpoint; its record stays. Stopping what is stopped changes nothing. */
export async function stopEndpoint(control: Control, name: string): Promise<Endpoint> {
  await getEndpoint(control, name);
  const document = await changeEndpoint(control, name, (current) => {
    if (!current || current.endpoint.state === "stopped" || current.endpoint.state === "stopping")
      return undefined;
    const state = nextEndpointState(current.endpoint.state, "stop");
    return { ...current, endpoint: { ...current.endpoint, state, desired: 0 } };
  });
  control.wake();
  return required(document).endpoint;
}

async function checkCheckpoint(control: Control, launch: LaunchEndpoint, id: string): Promise<void> {
  const checkpoint = await getCheckpoint(control, id);
  if (checkpoint.model.name === launch.model.name) return;
  throw new SpotterError(
    "checkpoint_mismatch",
    `Checkpoint ${id} was trained from ${checkpoint.model.name}, not from ${launch.model.name}.`,
    { where: "model", hint: `Launch it with the model ${checkpoint.model.name}.` },
  );
}

function create(control: Control, name: string, launch: LaunchEndpoint): EndpointDocument {
  const endpoint: Endpoint = {
    v: 1,
    name,
    model: launch.model,
    ...(launch.checkpoint !== undefined && { checkpoint: launch.checkpoint }),
    engine: launch.engine,
    public: launch.public,
    state: "creating",
    revision: 1,
    desired: 1,
    replicas: [],
    startFailures: 0,
    createdAtMs: control.clock.now(),
    url: `${control.config.publicUrl()}/v1`,
  };
  return { v: 1, endpoint, launches: 0, revisions: {} };
}

function relaunch(current: EndpointDocument, launch: LaunchEndpoint): EndpointDocument | undefined {
  const { endpoint } = current;
  const differences = identityDifferences(endpoint, launch);
  // Nobody chats with what failed or was stopped: there is nothing to lose by replacing it.
  const isOver = endpoint.state === "failed" || endpoint.state === "stopped";
  if (launch.recreate || (isOver && differences.length > 0)) return restarted(current, launch, "replace");
  if (differences.length > 0) {
    throw new SpotterError(
      "conflict",
      `Endpoint "${endpoint.name}" exists with another identity: ${differences.join("; ")}.`,
      { where: "name", hint: "Choose another name, or replace it: recreate: true (--recreate)." },
    );
  }
  if (!isServing(endpoint)) return restarted(current, launch, "launch");
  return endpoint.public === launch.public
    ? undefined
    : { ...current, endpoint: { ...endpoint, public: launch.public } };
}

function restarted(
  current: EndpointDocument,
  launch: LaunchEndpoint,
  change: "launch" | "replace",
): EndpointDocument {
  const { failure: _failure, checkpoint: _checkpoint, ...kept } = current.endpoint;
  const { retryAtMs: _retryAtMs, ...document } = current;
  const endpoint: Endpoint = {
    ...kept,
    model: launch.model,
    ...(launch.checkpoint !== undefined && { checkpoint: launch.checkpoint }),
    engine: launch.engine,
    public: launch.public,
    state: nextEndpointState(kept.state, change),
    revision: change === "replace" ? kept.revision + 1 : kept.revision,
    desired: 1,
    startFailures: 0,
  };
  return { ...document, endpoint };
}

function required(document: EndpointDocument | undefined): EndpointDocument {
  if (document === undefined) throw new SpotterError("not_found", "The endpoint is gone.");
  return document;
}
