import * as z from "zod";
import { bool, dict, float, int, list, off, text } from "./fields.ts";

const Elastic = z.strictObject({
  hostname: text("A name in DNS that lists the servers."),
  port: int("Their port.", 8000),
  sync_interval: float("Seconds between two looks.", 5),
});

/** How a program reaches servers that speak the OpenAI protocol. */
export const clientFields = {
  wait_for_ready_timeout: int("Seconds to wait for the servers at the start.", 1800),
  base_url: list(z.string(), "The servers' addresses; requests take turns.", ["http://localhost:8000/v1"]),
  api_key_var: text("The environment variable with the key.", "VLLM_API_KEY"),
  headers: dict(z.string(), "Headers of every request."),
  headers_from_env: dict(z.string(), "Headers whose values are in environment variables, by header."),
  extra_headers_from_state: dict(z.string(), "Headers whose values are fields of the rollout, by header."),
  skip_model_check: bool("Do not ask the servers whether they have the model.", false),
  dp_rank_count: int("Engines behind each address.", 1, { min: 1 }),
  admin_base_url: list(z.string(), "Addresses for weight updates and health, past any router.", null),
  elastic: off(Elastic, "Find servers in DNS instead of base_url."),
  router_url: text("A router for the requests themselves.", null),
};

export const Client = z.strictObject(clientFields);

/** A model that somebody else serves and that does not change. */
export const FrozenModel = z.strictObject({
  ...clientFields,
  name: text("The model's name on its server."),
});
