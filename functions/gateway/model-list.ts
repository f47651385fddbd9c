import * as z from "zod/mini";
import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import { hasWeights } from "../../sdk/schema/checkpoint-weights.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { listCheckpoints } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { fitsAsAdapter } from "../endpoints/adapters.ts";
import { isServing } from "../endpoints/transitions.ts";
import { RUNS, type RunDocument } from "../runs/records.ts";
import { mayUse, mayUseEndpoint, type ChatCaller } from "./access.ts";
import { resolveModel } from "./resolve.ts";

export const modelEntry = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: z.number(),
  owned_by: z.string(),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** Runs, from the newest on, whose checkpoints are listed. Older ones answer as well. */
const LISTED_RUNS = 100;

/**
 * Every name somebody may chat with: endpoints, aliases, and the checkpoints they serve or would be served for
 * the asking, also as adapters of the endpoint that serves their model. Wakes nothing.
 */
export async function listModels(control: Control, caller: ChatCaller): Promise<ModelEntry[]> {
  const endpoints = control.routes.all().filter((each) => isServing(each) && mayUseEndpoint(caller, each));
  const own = endpoints.map((endpoint) => entry(endpoint.name, endpoint.createdAtMs));
  const served = endpoints.flatMap(({ checkpoint, createdAtMs }) =>
    checkpoint === undefined ? [] : [entry(checkpoint, createdAtMs)],
  );
  const entries = [
    ...own,
    ...(await aliasEntries(control, caller)),
    ...served,
    ...(await askable(control, caller, endpoints)),
  ];
  return [...new Map(entries.map((each) => [each.id, each])).values()];
}

/** One of them, or anything else that resolves; undefined for what is not there or not for this caller. */
export async function findModel(
  control: Control,
  caller: ChatCaller,
  id: string,
): Promise<ModelEntry | undefined> {
  const resolved = await resolveModel(control, id, { mayList: (each) => mayUseEndpoint(caller, each) });
  const { endpoint, checkpoint } = resolved;
  if (!mayUse(caller, resolved) || (endpoint !== undefined && !isServing(endpoint))) return undefined;
  return entry(id, endpoint?.createdAtMs ?? checkpoint?.createdAtMs ?? 0);
}

async function aliasEntries(control: Control, caller: ChatCaller): Promise<ModelEntry[]> {
  await control.aliases.load();
  return control.aliases
    .all()
    .filter(
      ({ name, targets }) =>
        mayUse(caller, { names: [name] }) ||
        targets.every((target) => mayUseTarget(control, caller, target.model)),
    )
    .map(({ name, createdAtMs }) => entry(name, createdAtMs));
}

function mayUseTarget(control: Control, caller: ChatCaller, model: string): boolean {
  const endpoint = control.routes.find(model);
  return mayUse(caller, { names: [model], ...(endpoint && { endpoint }) });
}

/** Checkpoints that get an endpoint when they are asked for. */
async function askable(control: Control, caller: ChatCaller, endpoints: Endpoint[]): Promise<ModelEntry[]> {
  if (!control.config.servesCheckpoints || caller.kind !== "key") return [];
  const runs = await control.store.query<RunDocument>(RUNS, { reverse: true, limit: LISTED_RUNS });
  const lists = await Promise.all(
    runs.items
      .filter(({ value }) => value.deletedAtMs === undefined)
      .map(({ value }) => listCheckpoints(control, value.run.id)),
  );
  return lists.flatMap((checkpoints) => namesOf(checkpoints, caller, endpoints));
}

function namesOf(checkpoints: Checkpoint[], caller: ChatCaller, endpoints: Endpoint[]): ModelEntry[] {
  const may = ({ id, runId }: Checkpoint) => mayUse(caller, { names: [id, runId] });
  const mine = checkpoints.filter((checkpoint) => may(checkpoint) && hasWeights(checkpoint));
  const latest = mine.at(-1);
  if (latest === undefined) return [];
  return [
    entry(latest.runId, latest.createdAtMs),
    ...mine.flatMap((checkpoint) => [
      entry(checkpoint.id, checkpoint.createdAtMs),
      ...adapterBases(checkpoint, endpoints).map((base) =>
        entry(`${base.name}:${checkpoint.id}`, checkpoint.createdAtMs),
      ),
    ]),
  ];
}

function adapterBases(checkpoint: Checkpoint, endpoints: Endpoint[]): Endpoint[] {
  return endpoints.filter((each) => fitsAsAdapter(checkpoint, each));
}

function entry(id: string, createdAtMs: number): ModelEntry {
  return { id, object: "model", created: Math.floor(createdAtMs / 1000), owned_by: "spotter" };
}
