import { refuseWithoutWeights } from "../../sdk/schema/refuse-without-weights.ts";
import { checkEndpointEngine, checkServedCheckpoint } from "../engines/engines.ts";
import { servedCheckpoint } from "../engines/served-checkpoint.ts";
import { isDeepStrictEqual } from "node:util";
import type { Endpoint, LaunchEndpoint, UpdateEndpoint } from "../../sdk/schema/endpoint.ts";
import { hardwareChoices } from "../../sdk/schema/hardware.ts";
import { scalingOf, type ScalingSettings } from "../../sdk/schema/scaling.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { estimateReplica } from "../cost/estimate-engine.ts";
import { refuseReplica } from "../cost/fit.ts";
import { ignoredHardware, pricingOf } from "../cost/pricing.ts";
import { defaultName, identityDifferences } from "./identity.ts";
import { pinnedModel } from "../models/models.ts";
import { launchOnce } from "../records/launch-once.ts";
import { changeEndpoint, getEndpoint, type EndpointDocument } from "./records.ts";
import { changedScaling, IMPLICIT_SCALING } from "./scaling.ts";
import { isServing, nextEndpointState } from "./transitions.ts";

/**
 * Launches an endpoint, or finds the one that the same launch made before. Returns at once; the reconciler
 * starts the replica. The same name with another identity is a `conflict` unless `recreate`. With a key, the
 * same launch again changes nothing, where it would recreate the endpoint too.
 */
export function launchEndpoint(
  control: Control,
  asked: LaunchEndpoint,
  { key, force = false }: { key?: string | undefined; force?: boolean } = {},
): Promise<Endpoint> {
  const launch = { kind: "endpoint", key, body: asked } as const;
  const made = {
    nameOf: ({ name }: Endpoint) => name,
    find: async (name: string) => (await getEndpoint(control, name)).endpoint,
  };
  return control.gate.begin(() =>
    launchOnce(control, launch, (id) => accept(control, id, asked, force), made),
  );
}

/** As {@link launchEndpoint}, for callers that hold the gate already. */
export async function accept(
  control: Control,
  id: string,
  asked: LaunchEndpoint,
  force = false,
): Promise<Endpoint> {
  // Before its model is looked for: nobody should fetch weights for an engine that is not here.
  const hardware = checkEndpointEngine(control, { ...asked, name: asked.name ?? "endpoint" });
  const launch = {
    ...asked,
    ...(hardware && { hardware }),
    ...(asked.implicit && { scaling: { ...IMPLICIT_SCALING, ...asked.scaling } }),
    model: await pinnedModel(control, asked.model),
  };
  if (launch.checkpoint !== undefined) await checkCheckpoint(control, launch, launch.checkpoint);
  // Refused here, and not by a replica that never comes, where nothing has this hardware.
  for (const choice of launch.hardware ? hardwareChoices(launch.hardware) : [])
    pricingOf(control).priceOf(choice);
  if (!force && launch.engine === "onnx")
    refuseReplica(launch.model.name, await estimateReplica(control, launch));
  const name = launch.name ?? defaultName(launch);
  await refuseAliasName(control, name);
  const document = await changeEndpoint(control, name, (current) => {
    if (current?.launchId === id) return undefined;
    const next = current === undefined ? create(control, name, launch) : relaunch(control, current, launch);
    return next && { ...next, launchId: id };
  });
  control.wake();
  return required(document).endpoint;
}

/** Changes in place what is not part of the identity. */
export async function updateEndpoint(
  control: Control,
  name: string,
  changes: UpdateEndpoint,
): Promise<Endpoint> {
  await getEndpoint(control, name);
  const document = await changeEndpoint(
    control,
    name,
    (current) => current && { ...current, endpoint: inPlace(current.endpoint, changes) },
  );
  control.wake();
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

async function refuseAliasName(control: Control, name: string): Promise<void> {
  await control.aliases.load();
  if (control.aliases.find(name) === undefined) return;
  throw new SpotterError("conflict", `"${name}" is an alias.`, {
    where: "name",
    hint: "Choose another name, or remove it: `spotter endpoint alias NAME --remove`.",
  });
}

async function checkCheckpoint(control: Control, launch: LaunchEndpoint, id: string): Promise<void> {
  const checkpoint = await getCheckpoint(control, id);
  refuseWithoutWeights(checkpoint, "checkpoint");
  if (checkpoint.model.name === launch.model.name) {
    const name = launch.name ?? "endpoint";
    checkServedCheckpoint({ ...launch, name }, await servedCheckpoint(control, checkpoint));
    return;
  }
  throw new SpotterError(
    "checkpoint_mismatch",
    `Checkpoint ${id} was trained from ${checkpoint.model.name}, not from ${launch.model.name}.`,
    { where: "model", hint: `Launch it with the model ${checkpoint.model.name}.` },
  );
}

/** What changes without a restart. `desired` stays between the new bounds; the autoscaler does the rest. */
function inPlace(endpoint: Endpoint, changes: UpdateEndpoint): Endpoint {
  const scaling = changedScaling(endpoint.scaling, changes.scaling);
  const { min, max } = scalingOf(scaling);
  return {
    ...endpoint,
    public: changes.public ?? endpoint.public,
    desired: isServing(endpoint) ? Math.min(max, Math.max(min, endpoint.desired)) : endpoint.desired,
    ...(scaling !== undefined && { scaling }),
  };
}

function create(control: Control, name: string, launch: LaunchEndpoint): EndpointDocument {
  const scaling = changedScaling(undefined, launch.scaling);
  const endpoint: Endpoint = {
    v: 1,
    name,
    model: launch.model,
    ...(launch.checkpoint !== undefined && { checkpoint: launch.checkpoint }),
    engine: launch.engine,
    ...(launch.vllm && { vllm: launch.vllm }),
    ...terms(control, launch),
    public: launch.public,
    ...(launch.implicit && { implicit: true }),
    state: "creating",
    revision: 1,
    desired: firstDesired(scaling),
    replicas: [],
    ...(scaling !== undefined && { scaling }),
    startFailures: 0,
    createdAtMs: control.clock.now(),
    url: `${control.config.publicUrl()}/v1`,
  };
  return { v: 1, endpoint, launches: 0, revisions: {} };
}

/** What it runs on and for how long: said anew by each launch. */
function terms(
  control: Control,
  { hardware, engine, maxLifetimeMs }: LaunchEndpoint,
): Pick<Endpoint, "hardware" | "expiresAtMs" | "notes"> {
  const notes = ignoredHardware(pricingOf(control), { hardware, engine });
  return {
    ...(hardware && { hardware }),
    ...(maxLifetimeMs !== undefined && { expiresAtMs: control.clock.now() + maxLifetimeMs }),
    ...(notes.length > 0 && { notes }),
  };
}

function withTerms(control: Control, endpoint: Endpoint, launch: LaunchEndpoint): Endpoint {
  const { hardware: _hardware, expiresAtMs: _expiresAtMs, notes: _notes, ...rest } = endpoint;
  return { ...rest, ...terms(control, launch) };
}

function relaunch(
  control: Control,
  current: EndpointDocument,
  launch: LaunchEndpoint,
): EndpointDocument | undefined {
  const { endpoint } = current;
  const differences = identityDifferences(endpoint, launch);
  // Nobody chats with what failed or was stopped: there is nothing to lose by replacing it.
  const isOver = endpoint.state === "failed" || endpoint.state === "stopped";
  if (launch.recreate || (isOver && differences.length > 0))
    return restarted(control, current, launch, "replace");
  if (differences.length > 0) {
    throw new SpotterError(
      "conflict",
      `Endpoint "${endpoint.name}" exists with another identity: ${differences.join("; ")}.`,
      { where: "name", hint: "Choose another name, or replace it: recreate: true (--recreate)." },
    );
  }
  if (!isServing(endpoint)) return restarted(control, current, launch, "launch");
  if (launch.implicit) return undefined;
  const changed = withTerms(control, inPlace(explicit(endpoint), launch), launch);
  const next = { ...changed, desired: Math.max(changed.desired, firstDesired(changed.scaling)) };
  return isDeepStrictEqual(next, endpoint) ? undefined : { ...current, endpoint: next };
}

/** Launched by somebody now: it is theirs, and sleeps only if they say so. */
function explicit({ implicit, scaling, ...endpoint }: Endpoint): Endpoint {
  return implicit || scaling === undefined ? endpoint : { ...endpoint, scaling };
}

function restarted(
  control: Control,
  current: EndpointDocument,
  launch: LaunchEndpoint,
  change: "launch" | "replace",
): EndpointDocument {
  const known = withTerms(control, current.endpoint, launch);
  const before = launch.implicit ? known : explicit(known);
  const { failure: _failure, checkpoint: _checkpoint, vllm: _vllm, ...kept } = before;
  const { retryAtMs: _retryAtMs, ...document } = current;
  const scaling = launch.implicit ? launch.scaling : changedScaling(kept.scaling, launch.scaling);
  const endpoint: Endpoint = {
    ...kept,
    ...(launch.implicit && { implicit: true }),
    ...(scaling !== undefined && { scaling }),
    model: launch.model,
    ...(launch.checkpoint !== undefined && { checkpoint: launch.checkpoint }),
    engine: launch.engine,
    ...(launch.vllm && { vllm: launch.vllm }),
    public: launch.public,
    state: nextEndpointState(kept.state, change),
    revision: change === "replace" ? kept.revision + 1 : kept.revision,
    // What comes in its place has the same load from its first moment.
    desired: Math.max(firstDesired(scaling), Math.min(scalingOf(scaling).max, kept.desired)),
    startFailures: 0,
  };
  return { ...document, endpoint };
}

/** Who launches wants to chat soon: it comes up awake even where it may sleep later. */
function firstDesired(scaling: ScalingSettings | undefined): number {
  return Math.max(1, scalingOf(scaling).min);
}

function required(document: EndpointDocument | undefined): EndpointDocument {
  if (document === undefined) throw new SpotterError("not_found", "The endpoint is gone.");
  return document;
}
