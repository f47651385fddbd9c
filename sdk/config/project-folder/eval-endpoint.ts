import { SpotterError } from "../../schema/errors.ts";
import { isApiModel } from "./catalogue.ts";
import { isServed, launch, type ServeParams, servingOf } from "./play/open-player.ts";

/**
 * Name of who answers an eval: an endpoint, alias, run or checkpoint of that name, an endpoint that serves the model
 * already, or one that is launched for it and sleeps soon after its last answer.
 *
 * @throws SpotterError `model_not_found`, `model_unsupported`.
 */
export async function evalEndpoint(model: string, params: ServeParams): Promise<string> {
  if (model === "mock" || /^https?:\/\//i.test(model) || isApiModel(model))
    throw new SpotterError("model_not_found", `${model} is not served here, and an eval runs without you.`, {
      where: "--model",
      hint: "Name a model, an endpoint or a checkpoint; `spotter test --model` takes URLs, mock and models of others.",
    });
  const { client, signal } = params;
  if (!/^[.~/]/.test(model) && (await isServed(client(), model, signal))) return model;
  const endpoint = (await servingOf(params, model)) ?? (await launch(model, params));
  return endpoint.name;
}
