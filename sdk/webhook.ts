import { pageOf } from "./schema/common.ts";
import { webhookRecord, type WebhookRecord } from "./schema/webhook.ts";
import { type CallOptions, clientOf } from "./client.ts";

export interface SetWebhookParams extends CallOptions {
  /** Default: all. */
  events?: ("run.ended" | "run.stalled")[];
  /** Name of a stored secret; what is sent is signed with its value. */
  secret?: string;
}

/** Addresses that are told of every run; those of a single run stand in its TrainConfig. */
export const Webhook = {
  /**
   * Setting the same URL again replaces its events and its secret.
   *
   * @throws SpotterError `not_found` for a secret that is not set.
   * @example
   * // HOOK_KEY is stored: `spotter secret set HOOK_KEY`
   * await Webhook.set("https://example.com/hook", { events: ["run.stalled"], secret: "HOOK_KEY" });
   */
  set(url: string, params: SetWebhookParams = {}): Promise<WebhookRecord> {
    const { client: _client, signal, ...rest } = params;
    return clientOf(params).request(webhookRecord, "PUT", "/webhooks", { json: { url, ...rest }, signal });
  },

  async list(options: CallOptions = {}): Promise<WebhookRecord[]> {
    const request = { signal: options.signal };
    return (await clientOf(options).request(pageOf(webhookRecord), "GET", "/webhooks", request)).items;
  },

  /** @throws SpotterError `not_found` */
  remove(id: string, options: CallOptions = {}): Promise<void> {
    const path = `/webhooks/${encodeURIComponent(id)}`;
    // Repeated, it would say that there is no such webhook.
    return clientOf(options).command("DELETE", path, { signal: options.signal, retry: "unsent" });
  },
};
