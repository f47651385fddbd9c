import type * as z from "zod/mini";
import {
  type createKey as createKeySchema,
  type CreatedKey,
  type KeyLimits,
  type KeyRecord,
  type updateKey as updateKeySchema,
} from "../../sdk/schema/key.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Control } from "../control.ts";
import type { QueryOptions } from "../ports/store.ts";
import { update } from "../records/update.ts";
import { KEYS, newKey, type KeyDocument } from "./key-ring.ts";
import { monthOf, usagesOf } from "./usage.ts";

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
    ...(params.limits && { limits: params.limits }),
    createdAtMs: control.clock.now(),
  };
  const document: KeyDocument = { v: 1, record, hash };
  await control.store.put({ partition: KEYS, sort: id }, document, { ifVersion: 0 });
  return { key, record };
}

/** Keys with what they used this month, up to now. */
export async function listKeys(
  control: Control,
  query: QueryOptions,
): Promise<{ items: KeyRecord[]; next?: string }> {
  await control.usage.flush();
  const { items, next } = await control.store.query<KeyDocument>(KEYS, query);
  const usages = await usagesOf(control.store, monthOf(control.clock.now()));
  const records = items.map(({ value: { record } }) => {
    const usage = usages.get(record.id);
    return { ...record, ...(usage && { usage }) };
  });
  return { items: records, ...(next !== undefined && { next }) };
}

/** Changes what a key may use. A key that was revoked stays so. */
export function updateKey(
  control: Control,
  id: string,
  changes: z.infer<typeof updateKeySchema>,
): Promise<KeyRecord> {
  return changeKey(control, id, (record) => {
    const { endpoints: listed, limits: limited, ...kept } = record;
    const endpoints = changes.endpoints === undefined ? listed : (changes.endpoints ?? undefined);
    const limits = changedLimits(limited, changes.limits ?? {});
    return { ...kept, ...(endpoints && { endpoints }), ...(limits && { limits }) };
  });
}

/** Revokes a key at once; its record stays. Revoking it again changes nothing. */
export function revokeKey(control: Control, id: string): Promise<KeyRecord> {
  return changeKey(control, id, (record) =>
    record.revokedAtMs === undefined ? { ...record, revokedAtMs: control.clock.now() } : undefined,
  );
}

async function changeKey(
  control: Control,
  id: string,
  change: (record: KeyRecord) => KeyRecord | undefined,
): Promise<KeyRecord> {
  const document = await update<KeyDocument>(control.store, { partition: KEYS, sort: id }, (current) => {
    const record = current && change(current.value.record);
    return current && record && { value: { ...current.value, record } };
  });
  if (document === undefined) {
    throw new SpotterError("not_found", `There is no key ${id}.`, {
      hint: "`spotter key list` shows the keys.",
    });
  }
  control.keys.set(id, document);
  return document.value.record;
}

function changedLimits(
  before: KeyLimits | undefined,
  changes: NonNullable<z.infer<typeof updateKeySchema>["limits"]>,
): KeyLimits | undefined {
  const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => (value ?? null) !== null);
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}
