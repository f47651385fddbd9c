import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { ModelRef } from "../../sdk/schema/model.ts";
import { pickTarget } from "../aliases/pick-target.ts";
import { findCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { baseFor, fitsAsAdapter } from "../endpoints/adapters.ts";
import { isServing } from "../endpoints/transitions.ts";
import { knownCheckpoint } from "./known-checkpoints.ts";
import { noEndpoint, notServed, type MayList } from "./model-not-found.ts";

export interface ResolveOptions {
  /** The field that holds the name, for errors. Default `model`. */
  where?: string;
  /** Decides which target of an alias is meant: the same key, the same target. */
  splitBy?: string;
  /** Which endpoints errors may name. Default: all. */
  mayList?: MayList;
}

/** What a model name means: an endpoint, or a checkpoint that gets one when it is asked for. */
export interface Resolved {
  /** The name as asked and those it led to: what a key may list to be let in. */
  names: string[];
  endpoint?: Endpoint;
  /** The checkpoint that the endpoint's replicas serve as an adapter of their model. */
  adapter?: string;
  checkpoint?: Checkpoint;
}

/**
 * What a model name means: an endpoint; an alias, which leads to one of its targets; a checkpoint `run@step`; a
 * run, which stands for its latest checkpoint; or `base:run@step` and `base:run`, an adapter of the model that
 * the endpoint `base` serves. Nothing is launched or woken. Throws `model_not_found` with near names.
 */
export async function resolveModel(
  control: Control,
  model: string,
  options: ResolveOptions = {},
): Promise<Resolved> {
  const { routes, aliases } = control;
  const changes = routes.changes + aliases.changes;
  try {
    return await resolveKnown(control, model, options);
  } catch (error) {
    // Another process may have launched it this moment.
    await Promise.all([routes.lookAgain(), aliases.lookAgain()]);
    if (routes.changes + aliases.changes === changes) throw error;
    return await resolveKnown(control, model, options);
  }
}

async function resolveKnown(control: Control, model: string, options: ResolveOptions): Promise<Resolved> {
  await control.routes.load();
  const named = control.routes.find(model);
  if (named !== undefined) return { names: [model], endpoint: named };
  await control.aliases.load();
  const alias = control.aliases.find(model);
  if (alias === undefined) return resolveWeights(control, model, options);
  const target = pickTarget(alias.targets, `${model}\n${options.splitBy ?? ""}`);
  if (target === undefined) throw noEndpoint(control, model, options);
  const endpoint = control.routes.find(target.model);
  const led =
    endpoint === undefined
      ? await resolveWeights(control, target.model, options)
      : { names: [target.model], endpoint };
  return { ...led, names: [model, ...led.names] };
}

async function resolveWeights(control: Control, model: string, options: ResolveOptions): Promise<Resolved> {
  if (!NAME.test(model)) throw noEndpoint(control, model, options);
  const colon = model.indexOf(":");
  const name = model.slice(colon + 1);
  const id = name.includes("@") ? name : await control.routes.latestCheckpoint(name);
  if (id === undefined) throw noEndpoint(control, model, options);
  const base = colon === -1 ? undefined : baseOf(control, model.slice(0, colon), model, options);
  if (base !== undefined) await checkAdapter(control, base, id, model, options);
  const names = [...new Set([model, name, id, runOf(id)])];
  // Elsewhere a checkpoint gets an endpoint of its own, whatever base it is asked for with.
  if (base !== undefined && base.checkpoint === undefined && !control.config.servesCheckpoints)
    return { names, endpoint: base, adapter: id };
  return { names, ...(await serving(control, id, model, options)) };
}

/** What endpoints, runs and checkpoints can be called at all; anything else is no key of the store. */
const NAME = /^([\w.-]{1,63}:)?[\w.@/-]{1,300}$/;

function runOf(checkpointId: string): string {
  return checkpointId.slice(0, checkpointId.lastIndexOf("@"));
}

/**
 * Who serves a checkpoint, as itself or as an adapter, or the checkpoint itself where it may be served for the
 * asking.
 */
async function serving(
  control: Control,
  id: string,
  model: string,
  options: ResolveOptions,
): Promise<Omit<Resolved, "names">> {
  const all = control.routes.all().filter((endpoint) => endpoint.checkpoint === id);
  const live = all.find(isServing);
  if (live !== undefined) return { endpoint: live };
  const based = control.config.servesCheckpoints ? undefined : await onItsBase(control, id);
  if (based !== undefined) return based;
  // One that was launched for the asking is launched again; what people stopped stays so.
  const over = all.find((endpoint) => endpoint.implicit !== true || endpoint.state !== "stopped");
  if (over !== undefined) return { endpoint: over };
  const checkpoint = control.config.servesCheckpoints ? await findCheckpoint(control, id) : undefined;
  if (checkpoint !== undefined) return { checkpoint };
  throw notServed(control, model, id, options);
}

async function onItsBase(
  control: Control,
  id: string,
): Promise<Pick<Resolved, "endpoint" | "adapter"> | undefined> {
  const checkpoint = await knownCheckpoint(control, id);
  const endpoint = checkpoint && baseFor(checkpoint, control.routes.all());
  return endpoint && { endpoint, adapter: id };
}

function baseOf(control: Control, name: string, model: string, options: ResolveOptions): Endpoint {
  const base = control.routes.find(name);
  if (base === undefined) throw noEndpoint(control, model, options);
  return base;
}

/** An adapter fits the model it was trained from, and none else. */
async function checkAdapter(
  control: Control,
  base: Endpoint,
  id: string,
  model: string,
  options: ResolveOptions,
): Promise<void> {
  if (base.checkpoint === id) return;
  const checkpoint = await knownCheckpoint(control, id);
  if (checkpoint === undefined) throw noEndpoint(control, model, options);
  if (fitsAsAdapter(checkpoint, base)) return;
  const what = checkpoint.kind === "lora" ? `an adapter of ${written(checkpoint.model)}` : "no adapter";
  const serves = base.checkpoint ?? written(base.model);
  throw new SpotterError("model_not_found", `${id} is ${what}; endpoint "${base.name}" serves ${serves}.`, {
    where: options.where ?? "model",
    hint: `Ask for "${id}" itself.`,
  });
}

function written({ name, revision }: ModelRef): string {
  return revision === undefined ? name : `${name} (${revision.slice(0, 12)})`;
}
