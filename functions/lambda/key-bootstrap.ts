import { keyBootstrap, type BootstrappedKey } from "../../sdk/schema/key-bootstrap.ts";
import { SpotterError, type ErrorBody } from "../../sdk/schema/errors.ts";
import type { KeyRecord } from "../../sdk/schema/key.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import { store } from "../aws/aws-deps/store.ts";
import type { Control } from "../control.ts";
import { KEYS, type KeyDocument } from "../keys/key-ring.ts";
import { createKey } from "../keys/keys.ts";
import { eventFunction } from "./host/event-function.ts";

/** Which key was made last, by its version: of two calls at once one is refused. */
const LAST = { partition: "key-bootstrap", sort: "last" };

/**
 * Makes the first admin key of a stack. It has no URL: whoever may invoke it by the account's own rules
 * (`lambda:InvokeFunction`) has the right to a key, and nobody else reaches it. So no key is in the state of the
 * deployment, in a log, or in a variable.
 */
export const handler = eventFunction({ adapters: { store } }, async ({ control }, event) => {
  try {
    return await bootstrapKey(control, event);
  } catch (error) {
    if (SpotterError.is(error) && error.kind === "user") return error.toBody() satisfies ErrorBody;
    throw error;
  }
});

async function bootstrapKey(control: Control, event: unknown): Promise<BootstrappedKey> {
  const { name, force } = parseWith(keyBootstrap, event ?? {}, "The event");
  // Read before the keys: whoever writes it in between made a key that is then among them, or makes this fail.
  const last = await control.store.get(LAST);
  const living = await livingAdmin(control);
  if (living !== undefined && !force) throw alreadyThere(living);
  const created = await createKey(control, { name, scope: "admin" });
  try {
    await control.store.put(LAST, { v: 1, keyId: created.record.id }, { ifVersion: last?.version ?? 0 });
  } catch (error) {
    // Nobody was told of it.
    await control.store.delete({ partition: KEYS, sort: created.record.id });
    if (!SpotterError.is(error) || error.code !== "store_conflict") throw error;
    throw new SpotterError("conflict", "Somebody else made a key at the same time.", {
      hint: "Use theirs, or make another with `spotter key bootstrap --force`.",
    });
  }
  return { url: control.config.publicUrl(), ...created };
}

async function livingAdmin({ store }: Control): Promise<KeyRecord | undefined> {
  let after: string | undefined;
  do {
    const page = await store.query<KeyDocument>(KEYS, { ...(after !== undefined && { after }) });
    const found = page.items.find(
      ({ value: { record } }) => record.scope === "admin" && record.revokedAtMs === undefined,
    );
    if (found !== undefined) return found.value.record;
    after = page.next;
  } while (after !== undefined);
  return undefined;
}

function alreadyThere({ id, name }: KeyRecord): SpotterError {
  return new SpotterError("conflict", `The stack has an admin key already: ${name} (${id}).`, {
    where: id,
    hint:
      "Make further keys with it: `spotter key create`. If it is lost, make another with " +
      `\`spotter key bootstrap --force\`, then \`spotter key revoke ${id}\`.`,
  });
}
