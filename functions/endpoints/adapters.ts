import type { Checkpoint } from "../../sdk/schema/checkpoint.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { isServing } from "./transitions.ts";

/** An adapter lies on the very weights it was trained on; an endpoint of a checkpoint has others. */
export function fitsAsAdapter(
  { kind, model }: Pick<Checkpoint, "kind" | "model">,
  { checkpoint, model: served }: Pick<Endpoint, "checkpoint" | "model">,
): boolean {
  if (kind !== "lora" || checkpoint !== undefined) return false;
  return model.name === served.name && model.revision === served.revision;
}

/** Which endpoint answers as an adapter's base: one that is awake, else one that can be; always the same of many. */
export function baseFor(checkpoint: Checkpoint, endpoints: readonly Endpoint[]): Endpoint | undefined {
  const able = endpoints
    .filter((endpoint) => isServing(endpoint) && fitsAsAdapter(checkpoint, endpoint))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return able.find(({ replicas }) => replicas.some(({ state }) => state === "ready")) ?? able[0];
}
