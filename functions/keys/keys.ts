import type * as z from "zod/mini";
import type { CreatedKey, KeyRecord, createKey as createKeySchema } from "../../sdk/schema/key.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import { update } from "../records/update.ts";
import { KEYS, newKey, type KeyDocument } from "./key-ring.ts";

/** Makes a key. The answer is the only place where it can be read. */
export async function createKey(
  control: Control,
  params: z.infer<typeof createKeySchema>,
): Promise<CreatedKey> {
  const { key, hash, id } = newKey(control.ids.secret(24));
  const record: KeyRecord = {
    v: 1,
    id,
    name: params.name,
    scope: params.scope,
    ...(params.endpoints && { endpoints: params.endpoints }),
    createdAtMs: control.clock.now(),
  };
  const document: KeyDocument = { v: 1, record, hash };
  await control.store.put({ partition: KEYS, sort: id }, document, { ifVersion: 0 });
  return { key, record };
}

/** Revokes a key at once; its record stays. Revoking it again changes nothing. */
export async function revokeKey(control: Control, id: string): Promise<KeyRecord> {
  const document = await update<KeyDocument>(control.store, { partition: KEYS, sort: id }, (current) => {
    if (current === undefined || current.value.record.revokedAtMs !== undefined) return undefined;
    const record = { ...current.value.record, revokedAtMs: control.clock.now() };
    return { value: { ...current.value, record } };
  });
  if (document !== undefined) control.keys.set(id, document);
  if (document === undefined) {
    throw new SpotterError("not_found", `There is no key ${id}.`, {
      hint: "`spotter key list` shows the keys.",
    });
  }
  return document.value.record;
}
