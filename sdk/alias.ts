import * as z from "zod/mini";
import { alias as aliasSchema, type Alias as AliasRecord, type PutAliasInput } from "./schema/alias.ts";
import { type CallOptions, clientOf } from "./client.ts";

const aliasList = z.object({ items: z.array(aliasSchema) });

/** Names to chat with that lead to a model, or to several by weight. */
export const Alias = {
  /**
   * Lets a name lead to endpoints, runs or checkpoints: from the next request on, without a restart. A
   * conversation that the request names (`user`, `safety_identifier` or `prompt_cache_key`) stays with one of
   * them.
   *
   * @throws SpotterError `model_not_found` for a target that leads nowhere; `conflict` if an endpoint has the name.
   * @example
   * await Alias.set("haiku", [{ model: "haiku-v1", weight: 90 }, { model: "haiku-v2", weight: 10 }]);
   */
  set(name: string, targets: PutAliasInput["targets"], options: CallOptions = {}): Promise<AliasRecord> {
    const request = { json: { targets }, signal: options.signal };
    return clientOf(options).request(aliasSchema, "PUT", pathOf(name), request);
  },

  /** @throws SpotterError `not_found` */
  get(name: string, options: CallOptions = {}): Promise<AliasRecord> {
    return clientOf(options).request(aliasSchema, "GET", pathOf(name), { signal: options.signal });
  },

  /** All aliases by name. */
  async list(options: CallOptions = {}): Promise<AliasRecord[]> {
    return (await clientOf(options).request(aliasList, "GET", "/aliases", { signal: options.signal })).items;
  },

  /** What it led to stays. Removing what is not there is fine. */
  remove(name: string, options: CallOptions = {}): Promise<void> {
    return clientOf(options).command("DELETE", pathOf(name), { signal: options.signal });
  },
};

function pathOf(name: string): string {
  return `/aliases/${encodeURIComponent(name)}`;
}
