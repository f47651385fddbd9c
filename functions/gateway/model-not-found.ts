import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import { nearestName } from "../../sdk/schema/nearest-name.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";

/** Whether somebody may hear of an endpoint. */
export type MayList = (endpoint: Endpoint) => boolean;

interface Options {
  where?: string;
  mayList?: MayList;
}

/** Names longer than this cannot be meant. */
const SHOWN_CHARACTERS = 200;

/** Nothing here has such a name. */
export function noEndpoint(control: Control, model: string, options: Options): SpotterError {
  return notFound(model, hintFor(control, model, options.mayList), options);
}

/** The checkpoint may be there, but nobody serves it. */
export function notServed(control: Control, model: string, id: string, options: Options): SpotterError {
  const hint = control.config.servesCheckpoints
    ? `There is no checkpoint ${id}; \`spotter checkpoint list\` shows those of a run.`
    : `No endpoint serves ${id}: launch one with Endpoint.launch(model, { checkpoint: "${id}" }).`;
  return notFound(model, hint, options);
}

function notFound(model: string, hint: string, { where = "model" }: Options): SpotterError {
  const shown = model.length > SHOWN_CHARACTERS ? `${model.slice(0, SHOWN_CHARACTERS)}…` : model;
  const message = `There is no endpoint for the model "${shown}".`;
  return new SpotterError("model_not_found", message, { where, hint });
}

function hintFor(control: Control, model: string, mayList: MayList = () => true): string {
  const listed = control.routes.all().filter((endpoint) => isServing(endpoint) && mayList(endpoint));
  const names = listed.map(({ name }) => name);
  const near = nearestName(model.slice(0, SHOWN_CHARACTERS), names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return names.length === 0
    ? "No endpoint is running; launch one with `spotter endpoint launch MODEL --name NAME` or Endpoint.launch(model)."
    : `Running endpoints: ${names.slice(0, 10).join(", ")}.`;
}
