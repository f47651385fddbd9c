/**
 * Puts layers over each other: tables merge, anything else replaces, places of lists are changed one by one.
 *
 * @module
 */
import { ListPatch } from "./lists.ts";
import { originIn, type Origins } from "./provenance.ts";
import type { Origin, Path, Report } from "./types.ts";
import { below, isTable, sectionsIn, variantOf, type Shape } from "./walk.ts";

/** What one source says. */
export interface Layer {
  value: unknown;
  origins: Origins;
}

/** A report that knows its place by itself, because the value is gone. */
export type MergeReport = Report & { origin?: Origin | undefined };

export interface MergeParams {
  /** Without one no variants are told apart. */
  shape?: Shape | undefined;
  path?: Path;
  /** The list to patch is in a layer below this one. */
  isPartial?: boolean;
  report?: (report: MergeReport) => void;
}

/** `over` on top of `base`; neither changes. */
export function merged(base: Layer, over: Layer, params: MergeParams = {}): Layer {
  if (over.value instanceof ListPatch) return patched(base, over, over.value, params);
  if (!isTable(over.value)) return over;
  const onto = isTable(base.value) ? withoutOldVariant(base, base.value, over, over.value, params) : EMPTY;
  const value: Record<string, unknown> = { ...(onto.value as Record<string, unknown>) };
  const belows = new Map(onto.origins.below);
  for (const key of Object.keys(over.value)) {
    const each = merged(child(onto, key), child(over, key), step(params, key, over.value));
    value[key] = each.value;
    belows.set(key, each.origins);
  }
  return { value, origins: { origin: over.origins.origin ?? onto.origins.origin, below: belows } };
}

const EMPTY: Layer = { value: {}, origins: {} };

function child({ value, origins }: Layer, key: string | number): Layer {
  const held = (value as Record<string | number, unknown> | undefined)?.[key];
  return { value: held, origins: origins.below?.get(key) ?? {} };
}

function step(params: MergeParams, key: string | number, value: unknown): MergeParams {
  return {
    ...params,
    path: [...(params.path ?? []), key],
    shape: params.shape && below(params.shape, key, value),
  };
}

function patched(base: Layer, over: Layer, patch: ListPatch, params: MergeParams): Layer {
  if (base.value instanceof ListPatch) return repatched(base, base.value, over, patch);
  if (params.isPartial && base.value === undefined) return over;
  const list = Array.isArray(base.value) ? [...(base.value as unknown[])] : [];
  const onto: Layer = { value: list, origins: Array.isArray(base.value) ? base.origins : {} };
  const belows = new Map(onto.origins.below);
  for (const [index, item] of patch.items) {
    if (index > list.length) {
      reportGap(params, index, list.length);
      continue;
    }
    const each = merged(
      child(onto, index),
      { value: item, origins: over.origins.below?.get(index) ?? {} },
      step(params, index, item),
    );
    list[index] = each.value;
    belows.set(index, each.origins);
  }
  return { value: list, origins: { origin: onto.origins.origin, below: belows } };
}

function repatched(base: Layer, old: ListPatch, over: Layer, patch: ListPatch): Layer {
  const items = new Map(old.items);
  const belows = new Map(base.origins.below);
  for (const [index, item] of patch.items) {
    const each = merged(
      { value: items.get(index), origins: belows.get(index) ?? {} },
      { value: item, origins: over.origins.below?.get(index) ?? {} },
      { isPartial: true },
    );
    items.set(index, each.value);
    belows.set(index, each.origins);
  }
  return { value: new ListPatch(items), origins: { below: belows } };
}

function reportGap({ report, path = [] }: MergeParams, index: number, length: number): void {
  report?.({
    path: [...path, index],
    message: `Position ${index} would leave a gap: there ${length === 1 ? "is 1 entry" : `are ${length} entries`}.`,
    hint: `Positions count from 0; the next new one is ${length}.`,
  });
}

/**
 * Where a layer above picks another variant, what only the old one has goes: it was said for that one. What no
 * variant has stays, to be refused.
 */
function withoutOldVariant(
  base: Layer,
  table: Record<string, unknown>,
  over: Layer,
  overTable: Record<string, unknown>,
  params: MergeParams,
): Layer {
  const union = params.shape && sectionsIn(params.shape);
  if (union?.kind !== "union" || overTable[union.tag] === undefined) return base;
  const before = variantOf(union, table);
  const after = variantOf(union, overTable);
  if (!before || !after || before === after) return base;
  const gone = Object.keys(table).filter((key) => before.fields.has(key) && !after.fields.has(key));
  if (gone.length === 0) return base;
  for (const key of gone) reportGone(key, base, overTable[union.tag], params);
  const isGone = new Set<string | number>(gone);
  const kept = Object.entries(table).filter(([key]) => !isGone.has(key));
  const belows = [...(base.origins.below ?? [])].filter(([key]) => !isGone.has(key));
  return {
    value: Object.fromEntries(kept),
    origins: { origin: base.origins.origin, below: new Map(belows) },
  };
}

function reportGone(key: string, base: Layer, tag: unknown, { report, path = [] }: MergeParams): void {
  report?.({
    path: [...path, key],
    severity: "warning",
    message: `${key} is dropped: "${String(tag)}" has no such setting.`,
    hint: `Remove it, or keep a type that has it.`,
    origin: originIn(base.origins, [key]),
  });
}
