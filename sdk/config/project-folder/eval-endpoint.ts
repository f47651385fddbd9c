import { Endpoint } from "../../endpoint.ts";
import { SpotterError } from "../../schema/errors.ts";
import { isApiModel } from "./catalogue.ts";
import { isLive, isServed, launch, type ServeParams, servingOf } from "./play/open-player.ts";

export interface EvalEndpoint {
  name: string;
  /** Stops what was launched for the eval alone. */
  close(): Promise<void>;
}

/**
 * Who answers an eval: an endpoint, alias, run or checkpoint of that name, an endpoint that serves the model already,
 * or one that is launched for it.
 *
 * @throws SpotterError `model_not_found`, `model_unsupported`.
 */
export async function evalEndpoint(model: string, params: ServeParams): Promise<EvalEndpoint> {
  if (model === "mock" || /^https?:\/\//i.test(model) || isApiModel(model))
    throw new SpotterError("model_not_found", `${model} is not served here, and an eval runs without you.`, {
      where: "--model",
      hint: "Name a model, an endpoint or a checkpoint; `spotter test --model` takes URLs, mock and models of others.",
    });
  const { client, signal } = params;
  const stays = { close: () => Promise.resolve() };
  if (!/^[.~/]/.test(model) && (await isServed(client(), model, signal))) return { name: model, ...stays };
  const serving = await servingOf(params, model);
  if (serving) return { name: serving.name, ...stays };
  const live = (await Endpoint.list({ client: client(), signal })).filter(isLive);
  const endpoint = await launch(model, live, params);
  if (live.some(({ name }) => name === endpoint.name)) return { name: endpoint.name, ...stays };
  return { name: endpoint.name, close: async () => void (await endpoint.stop()) };
}
