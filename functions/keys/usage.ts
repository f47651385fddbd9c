import type { KeyUsage } from "../../sdk/schema/key.ts";
import type { DocumentKey, Store } from "../ports/store.ts";
import { collect, update } from "../records/update.ts";

/** A month of one key, as stored: one document each, so that gateways add up by compare-and-set. */
export interface UsageDocument {
  v: 1;
  keyId: string;
  usage: KeyUsage;
}

const DAY_MS = 86_400_000;
/** Every request asks for its month, some of them several times: the last day is remembered. */
let lastMonth = { day: Number.NaN, month: "" };

/** The month of UTC, as in `2026-11`. */
export function monthOf(nowMs: number): string {
  const day = Math.floor(nowMs / DAY_MS);
  if (day !== lastMonth.day) lastMonth = { day, month: new Date(nowMs).toISOString().slice(0, 7) };
  return lastMonth.month;
}

export function noUsage(month: string): KeyUsage {
  return { month, requests: 0, promptTokens: 0, completionTokens: 0, estimated: 0, lastAtMs: 0 };
}

export function tokensOf({ promptTokens, completionTokens }: KeyUsage): number {
  return promptTokens + completionTokens;
}

export function sumOf(left: KeyUsage, right: KeyUsage): KeyUsage {
  return {
    month: left.month,
    requests: left.requests + right.requests,
    promptTokens: left.promptTokens + right.promptTokens,
    completionTokens: left.completionTokens + right.completionTokens,
    estimated: left.estimated + right.estimated,
    lastAtMs: Math.max(left.lastAtMs, right.lastAtMs),
  };
}

export async function readUsage(store: Store, keyId: string, month: string): Promise<KeyUsage> {
  const document = await store.get<UsageDocument>(usageKey(keyId, month));
  return document?.value.usage ?? noUsage(month);
}

/** Resolves to what is stored then: the sum over all gateways. */
export async function addUsage(store: Store, keyId: string, added: KeyUsage): Promise<KeyUsage> {
  const document = await update<UsageDocument>(store, usageKey(keyId, added.month), (current) => ({
    value: { v: 1, keyId, usage: sumOf(current?.value.usage ?? noUsage(added.month), added) },
  }));
  return document?.value.usage ?? added;
}

/** By key id. */
export async function usagesOf(store: Store, month: string): Promise<Map<string, KeyUsage>> {
  const documents = await collect<UsageDocument>((after) =>
    store.query<UsageDocument>(partitionOf(month), { limit: 1_000, ...(after !== undefined && { after }) }),
  );
  return new Map(documents.map(({ keyId, usage }) => [keyId, usage]));
}

function usageKey(keyId: string, month: string): DocumentKey {
  return { partition: partitionOf(month), sort: keyId };
}

function partitionOf(month: string): string {
  return `key-usage/${month}`;
}
