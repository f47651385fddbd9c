import { refuseWithoutWeights } from "../../sdk/schema/refuse-without-weights.ts";
import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { TeacherSpec } from "../../sdk/schema/teacher.ts";
import { getCheckpoint } from "../checkpoints/records.ts";
import type { Control } from "../control.ts";
import { hardwareChoices } from "../../sdk/schema/hardware.ts";
import { pricingOf } from "../cost/pricing.ts";
import { isServing } from "../endpoints/transitions.ts";
import { resolveModel } from "../gateway/resolve.ts";
import { findModel, pinnedModel, pullOf } from "../models/models.ts";
import { checkTokenizers, type Weights } from "./tokenizers.ts";

/**
 * The teacher of a run that is launched, pinned: a name that may mean something else tomorrow is replaced by what it
 * means now. Nothing is started yet.
 *
 * @throws SpotterError `model_not_found`, `checkpoint_not_found`, `endpoint_failed`, `not_found` for a secret;
 *   `tokenizer_mismatch` where it is known already that its grades would be of other tokens.
 */
export async function acceptTeacher(
  control: Control,
  { model: student, startFrom, teacher }: Pick<RunSpec, "model" | "startFrom" | "teacher">,
): Promise<TeacherSpec | undefined> {
  if (teacher === undefined) return undefined;
  const pinned = await pin(control, teacher);
  const weights = await weightsOf(control, pinned);
  if (weights !== undefined)
    await checkTokenizers(control, { model: student, checkpoint: startFrom?.checkpoint }, weights);
  return pinned;
}

async function pin(control: Control, teacher: TeacherSpec): Promise<TeacherSpec> {
  const { model, checkpoint, endpoint, url, hardware } = teacher;
  // Refused here, and not by a replica that never comes.
  for (const choice of hardware ? hardwareChoices(hardware) : []) pricingOf(control).priceOf(choice);
  if (url?.secret !== undefined) await control.secrets.resolve([url.secret]);
  if (checkpoint !== undefined)
    refuseWithoutWeights(await getCheckpoint(control, checkpoint), "teacher.checkpoint");
  if (model !== undefined)
    return { ...teacher, model: await pinnedModel(control, model, "teacher.model.name") };
  return endpoint === undefined ? teacher : pinEndpoint(control, teacher, endpoint);
}

async function pinEndpoint(control: Control, teacher: TeacherSpec, name: string): Promise<TeacherSpec> {
  const { endpoint: _name, ...rest } = teacher;
  const found = await resolveModel(control, name, { where: "teacher.endpoint", splitBy: name }).catch(
    async (error: unknown) => {
      if (!SpotterError.is(error) || error.code !== "model_not_found") throw error;
      // A word alone may be meant for either; an endpoint of that name comes first.
      const stored = await findModel(control, name);
      if (stored === undefined) throw neither(name, error);
      return { revision: stored.sha256 };
    },
  );
  if ("revision" in found) return { ...rest, model: { name, revision: found.revision } };
  if (found.endpoint === undefined) {
    if (found.checkpoint === undefined) throw new Error(`${name} led to nothing`);
    return { ...rest, checkpoint: found.checkpoint.id };
  }
  refuseEnded(found.endpoint);
  const { name: serving } = found.endpoint;
  // What is up for a short while only, for somebody's chat or for another run, is no promise.
  if (found.endpoint.implicit && found.endpoint.checkpoint !== undefined)
    return { ...rest, checkpoint: found.endpoint.checkpoint };
  return { ...rest, endpoint: found.adapter === undefined ? serving : `${serving}:${found.adapter}` };
}

function neither(name: string, { hint = "" }: SpotterError): SpotterError {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  const message = `There is no endpoint and no stored model "${shown}" to teach.`;
  return new SpotterError("model_not_found", message, {
    where: "teacher.endpoint",
    hint: `${hint} ${pullOf(name)} stores one; \`spotter model list\` shows those that are stored.`.trim(),
  });
}

function refuseEnded(endpoint: Endpoint): void {
  if (isServing(endpoint)) return;
  throw new SpotterError("endpoint_failed", `Endpoint "${endpoint.name}" is ${endpoint.state}.`, {
    where: "teacher.endpoint",
    hint: "Launch it again first.",
    status: 409,
  });
}

/** Which weights teach, where this home knows. */
async function weightsOf(control: Control, teacher: TeacherSpec): Promise<Weights | undefined> {
  if (teacher.model !== undefined) return { model: teacher.model };
  if (teacher.checkpoint !== undefined) {
    const { model, id } = await getCheckpoint(control, teacher.checkpoint);
    return { model, checkpoint: id };
  }
  const { endpoint } = teacher;
  const served = endpoint === undefined ? undefined : control.routes.find(servingName(endpoint));
  return served && { model: served.model, checkpoint: served.checkpoint };
}

/** The endpoint that answers for `base:run@step`, or for its own name. */
export function servingName(endpoint: string): string {
  const [name = ""] = endpoint.split(":");
  return name;
}
