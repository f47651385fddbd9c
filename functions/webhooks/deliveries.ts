import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { Webhook } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import type { Delivery, RunDocument } from "../runs/records.ts";

/** Refuses a webhook whose secret does not exist: better now than when it is needed. */
export async function checkWebhooks(control: Control, webhooks: readonly Webhook[]): Promise<void> {
  const known = new Set(await control.secrets.list());
  for (const [index, { secret }] of webhooks.entries()) {
    if (secret === undefined || known.has(secret)) continue;
    throw new SpotterError(
      "not_found",
      `A webhook is to be signed with the secret "${secret}", which is not set.`,
      {
        where: `webhooks[${index}].secret`,
        hint: `Set it: spotter secret set ${secret}`,
      },
    );
  }
}

/**
 * A run with what is to be told about it. It is written together with the change itself, so nothing that
 * happened goes untold, whenever the process dies.
 */
export function withDeliveries(
  control: Control,
  document: RunDocument,
  event: Delivery["event"],
  message?: string,
): RunDocument {
  const targets = (document.webhooks ?? []).filter(({ events }) => events.includes(event));
  if (targets.length === 0) return document;
  const atMs = control.clock.now();
  const fresh = targets.map(({ url, secret }): Delivery => {
    const id = control.ids.next();
    const body = JSON.stringify({ id, event, atMs, ...(message && { message }), run: told(document.run) });
    return { id, event, url, ...(secret && { secret }), body, tries: 0, nextAtMs: atMs };
  });
  return { ...document, deliveries: [...(document.deliveries ?? []), ...fresh] };
}

/** A run as receivers get it: without log lines, which may be many and hold what is not theirs. */
function told(run: Run) {
  const { id, name, tags, model, state, step, steps, metrics, failure, createdAtMs, endedAtMs } = run;
  const why = failure && { code: failure.code, message: failure.message };
  return { id, name, tags, model, state, step, steps, metrics, failure: why, createdAtMs, endedAtMs };
}
