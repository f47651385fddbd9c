import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/parse.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";

/**
 * The endpoint that a model name means: an endpoint's name, a checkpoint `run@step` that an endpoint serves,
 * or a run, which stands for its latest checkpoint. Throws `model_not_found` with near names.
 */
export async function resolveModel(control: Control, model: string, where = "model"): Promise<Endpoint> {
  await control.routes.load();
  const named = control.routes.find(model);
  if (named !== undefined) return named;
  if (!NAME.test(model))
    throw notFound(control, `${model.slice(0, 200)}${model.length > 200 ? "…" : ""}`, where);
  const checkpoint = model.includes("@") ? model : await control.routes.latestCheckpoint(model);
  const serving = control.routes.all().filter((endpoint) => endpoint.checkpoint === checkpoint);
  const found = checkpoint === undefined ? undefined : (serving.find(isServing) ?? serving[0]);
  if (found !== undefined) return found;
  throw notFound(control, model, where, checkpoint);
}

/** What endpoints, runs and checkpoints can be called at all; anything else is no key of the store. */
const NAME = /^[\w.@/-]{1,300}$/;

function notFound(control: Control, model: string, where: string, checkpoint?: string): SpotterError {
  return new SpotterError("model_not_found", `There is no endpoint for the model "${model}".`, {
    where,
    hint: hintFor(control, model, checkpoint),
  });
}

function hintFor(control: Control, model: string, checkpoint: string | undefined): string {
  if (checkpoint !== undefined)
    return `No endpoint serves ${checkpoint}: launch one with Endpoint.launch(model, { checkpoint: "${checkpoint}" }).`;
  const names = control.routes
    .all()
    .filter(isServing)
    .map(({ name }) => name);
  const near = nearestName(model, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return names.length === 0
    ? "No endpoint is running; launch one with Endpoint.launch(model)."
    : `Running endpoints: ${names.slice(0, 10).join(", ")}.`;
}
