import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Run } from "../../sdk/schema/run.ts";
import type { Webhook } from "../../sdk/schema/run-spec.ts";
import type { Control } from "../control.ts";
import type { Delivery, RunDocument } from "../runs/records.ts";

/** Refuses a webhook whose secret does not exist: better now than when it is needed. */
export async function checkWebhooks(control: Control, webhooks: readonly Webhook[]): Promise<void> {
  for (const [index, { secret }] of webhooks.entries())
    await checkSecret(control, secret, `webhooks[${index}].secret`);
}

export async function checkSecret(
  control: Control,
  secret: string | undefined,
  where: string,
): Promise<void> {
  if (secret === undefined || (await control.secrets.list()).includes(secret)) return;
  throw new SpotterError(
    "not_found",
    `A webhook is to be signed with the secret "${secret}", which is not set.`,
    { where, hint: `Set it: spotter secret set ${secret}` },
  );
}

/**
 * A run with what is to be told about it. It is written together with the change itself, so nothing that
 * happened goes untold, whenever the process dies.
 *
 * @param everyRun Those that are told of every run; what the run itself says of the same address goes first.
 */
export function withDeliveries(
  control: Control,
  document: RunDocument,
  event: Delivery["event"],
  everyRun: readonly Webhook[],
  message?: string,
): RunDocument {
  const own = document.webhooks ?? [];
  const others = everyRun.filter(({ url }) => !own.some((each) => each.url === url));
  const targets = [...own, ...others].filter(({ events }) => events.includes(event));
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
