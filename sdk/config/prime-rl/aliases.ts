import type { Layer } from "./merge.ts";
import { ListPatch } from "./lists.ts";
import type { Origins } from "./provenance.ts";
import type { Path, Report } from "./types.ts";
import {
  below,
  fieldIn,
  isTable,
  sectionsIn,
  type SectionShape,
  type Shape,
  type UnionShape,
} from "./walk.ts";

/**
 * The same layer with every field under its canonical name. Each layer by itself, before they merge: so the old
 * name in one file and the new one in another mean the same field.
 */
export function withCanonicalNames(layer: Layer, shape: Shape, report: (report: Report) => void): Layer {
  return renamed(layer.value, layer.origins, shape, [], report);
}

function renamed(
  value: unknown,
  origins: Origins,
  shape: Shape | undefined,
  path: Path,
  report: (report: Report) => void,
): Layer {
  const inner = (item: unknown, step: string | number, to: string | number, from: unknown): Layer =>
    renamed(item, origins.below?.get(step) ?? {}, shape && below(shape, to, from), [...path, to], report);
  if (Array.isArray(value) || value instanceof ListPatch) {
    const items: [number, Layer][] = [...(value instanceof ListPatch ? value.items : value.entries())].map(
      ([index, item]) => [index, inner(item, index, index, item)],
    );
    const values = items.map(([index, each]) => [index, each.value] as const);
    return {
      value: Array.isArray(value) ? values.map(([, item]) => item) : new ListPatch(values),
      origins: { ...origins, below: new Map(items.map(([index, each]) => [index, each.origins])) },
    };
  }
  if (!isTable(value)) return { value, origins };
  const sections = shape && sectionsIn(shape);
  const result: Record<string, unknown> = {};
  const belows = new Map<string | number, Origins>();
  const spelled = new Map<string, string>();
  for (const [key, item] of Object.entries(value)) {
    const name = sections ? canonical(sections, key, value) : key;
    const other = spelled.get(name);
    if (other !== undefined) report(twice([...path, name], other, key));
    spelled.set(name, key);
    const each = inner(item, key, name, value);
    result[name] = each.value;
    belows.set(name, each.origins);
  }
  return { value: result, origins: { ...origins, below: belows } };
}

function canonical(sections: SectionShape | UnionShape, key: string, table: unknown): string {
  return fieldIn(sections, key, table)?.name ?? key;
}

function twice(path: Path, one: string, other: string): Report {
  return {
    path,
    message: `${one} and ${other} are two names of one setting, and both stand here.`,
    hint: `Keep ${String(path.at(-1))}.`,
  };
}
