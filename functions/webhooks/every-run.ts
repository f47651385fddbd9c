import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Webhook } from "../../sdk/schema/run-spec.ts";
import type { WebhookRecord } from "../../sdk/schema/webhook.ts";
import type { Control } from "../control.ts";
import type { DocumentKey } from "../ports/store.ts";
import { sha256Of } from "../records/hash.ts";
import { collect, update } from "../records/update.ts";
import { checkSecret } from "./deliveries.ts";

const WEBHOOKS = "webhooks";
/** Each is an address more for every run. */
const MAX_WEBHOOKS = 20;

/**
 * Sets the webhook of a URL, which is told of every run from now on. Its secret is a name: the value stays among
 * the secrets.
 *
 * @throws SpotterError `not_found` for a secret that is not set, `conflict` if there are too many.
 */
export async function setWebhook(control: Control, asked: Webhook): Promise<WebhookRecord> {
  await checkSecret(control, asked.secret, "secret");
  const id = sha256Of(asked.url).slice(0, 16);
  const others = (await listWebhooks(control)).filter((each) => each.id !== id);
  if (others.length >= MAX_WEBHOOKS) {
    throw new SpotterError("conflict", `There are ${MAX_WEBHOOKS} webhooks already.`, {
      hint: "Remove one first: spotter webhook remove ID",
    });
  }
  const document = await update<WebhookRecord>(control.store, keyOf(id), (current) => ({
    value: { v: 1, id, ...asked, createdAtMs: current?.value.createdAtMs ?? control.clock.now() },
  }));
  if (document === undefined) throw new SpotterError("internal", "The webhook was not written.");
  return document.value;
}

export function listWebhooks(control: Pick<Control, "store">): Promise<WebhookRecord[]> {
  return collect((after) => control.store.query<WebhookRecord>(WEBHOOKS, { after }));
}

/** What is under way to it already is still sent. */
export async function removeWebhook(control: Control, id: string): Promise<void> {
  if ((await control.store.get(keyOf(id))) === undefined) {
    throw new SpotterError("not_found", `There is no webhook ${id}.`, {
      where: id,
      hint: "`spotter webhook list` shows the ids.",
    });
  }
  await control.store.delete(keyOf(id));
}

function keyOf(id: string): DocumentKey {
  return { partition: WEBHOOKS, sort: id };
}
