import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { Document, DocumentKey, PutOptions } from "../../ports/store.ts";
import { checkEntries, checkKey } from "../../ports/store-keys.ts";
import { encodeValue } from "../../ports/store-values.ts";
import { entryAttributes, SLOTS, type IndexSlots } from "./indexes.ts";
import { textOf, type Condition, type Item, type ItemKey, type Table } from "./table.ts";
import { newWrite, NO_WRITE, NOT_WRITTEN, REMEMBER_WRITE, versionOfWrite } from "./writes.ts";

const NAMES = { "#value": "value", "#version": "version" };

export async function getDocument<T>(table: Table, key: DocumentKey): Promise<Document<T> | undefined> {
  checkKey(key);
  const item = await table.get(itemKey(key));
  return item && toDocument<T>(item);
}

/** One conditional update. Where it is refused, what is stored tells whether that was by another put or by itself. */
export async function putDocument(
  table: Table,
  slots: IndexSlots,
  key: DocumentKey,
  value: unknown,
  { ifVersion, indexes }: PutOptions,
): Promise<number> {
  checkKey(key);
  if (indexes !== undefined) checkEntries(indexes);
  const text = encodeValue(value, nameOf(key));
  const write = newWrite();
  const entries = indexes && entryUpdates(entryAttributes(slots, indexes, key));
  const condition = putCondition(ifVersion);
  const updated = await table.update(itemKey(key), {
    expression:
      `SET #value = :value, ${REMEMBER_WRITE}, #version = if_not_exists(#version, :zero) + :one` +
      (entries?.expression ?? ""),
    condition: condition.expression,
    names: NAMES,
    values: {
      ":value": { S: text },
      ":write": { S: write },
      ...NO_WRITE,
      ":zero": { N: "0" },
      ":one": { N: "1" },
      ...condition.values,
      ...entries?.values,
    },
    // The new version comes with the value it belongs to, which is not worth its way where it is known.
    returning: ifVersion === undefined ? "UPDATED_NEW" : "NONE",
  });
  if (updated !== undefined) return ifVersion === undefined ? versionOf(updated) : ifVersion + 1;
  const stored = await table.get(itemKey(key));
  const own = stored && versionOfWrite(stored, versionOf(stored), write);
  if (own !== undefined) return own;
  throw conflict(key, stored, ifVersion);
}

export async function deleteDocument(
  table: Table,
  key: DocumentKey,
  ifVersion: number | undefined,
): Promise<void> {
  checkKey(key);
  if (await table.delete(itemKey(key), deleteCondition(ifVersion))) return;
  throw conflict(key, await table.get(itemKey(key)), ifVersion);
}

export function toDocument<T>(item: Item): Document<T> {
  const key = { partition: textOf(item, "pk"), sort: textOf(item, "sk") };
  return { key, value: decodeText(textOf(item, "value"), nameOf(key)) as T, version: versionOf(item) };
}

export function decodeText(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SpotterError("state_unreadable", `The state is damaged: ${where} is not as it was written.`, {
      where,
      hint: "Restore the table to a time before it was changed by hand (point-in-time recovery).",
      cause,
    });
  }
}

function itemKey(key: DocumentKey): ItemKey {
  return { pk: key.partition, sk: key.sort };
}

/** Without an expected version a put is refused only by itself, so that it counts once however often it is sent. */
function putCondition(ifVersion: number | undefined): Condition {
  if (ifVersion === undefined) {
    return { expression: NOT_WRITTEN };
  }
  if (ifVersion === 0) return { expression: "attribute_not_exists(pk)" };
  return { expression: "#version = :expected", values: { ":expected": { N: String(ifVersion) } } };
}

function deleteCondition(ifVersion: number | undefined): Condition | undefined {
  if (ifVersion === undefined) return undefined;
  if (ifVersion === 0) return { expression: "attribute_not_exists(pk)" };
  return {
    expression: "#version = :expected",
    names: { "#version": "version" },
    values: { ":expected": { N: String(ifVersion) } },
  };
}

/** Sets the slots that have an entry now, and clears the others. */
function entryUpdates(attributes: Item): { expression: string; values: Item } {
  const all = SLOTS.flatMap((slot) => [`${slot}pk`, `${slot}sk`]);
  const set = all.filter((name) => attributes[name] !== undefined);
  const cleared = all.filter((name) => attributes[name] === undefined);
  return {
    expression:
      set.map((name) => `, ${name} = :${name}`).join("") +
      (cleared.length > 0 ? ` REMOVE ${cleared.join(", ")}` : ""),
    values: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
  };
}

function versionOf(item: Item): number {
  return Number(textOf(item, "version"));
}

function nameOf(key: DocumentKey): string {
  return `${key.partition}/${key.sort}`;
}

function conflict(key: DocumentKey, stored: Item | undefined, expected: number | undefined): SpotterError {
  const version = stored === undefined ? 0 : versionOf(stored);
  return new SpotterError(
    "store_conflict",
    `${nameOf(key)} was not at version ${expected}; it is at ${version} now.`,
    { where: nameOf(key), retryable: true, hint: "Read it again and repeat the change." },
  );
}
