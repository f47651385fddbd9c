/**
 * Resolved trees as TOML, which has no null: what is left out means null where that is the default, and the text
 * "None" means it where something else would stand.
 *
 * @module
 */
import { stringify } from "smol-toml";
import { ENTRYPOINTS, type EntrypointName } from "../entrypoints.ts";
import { sharedInto } from "../rules/shared-fields.ts";
import type { Path } from "../types.ts";
import { fieldIn, isTable, restIn, rootOf, sectionsIn, type Field, type Shape } from "../walk.ts";
import type { Table } from "./tree.ts";

/** What to be told about while a tree is written. */
export interface TomlWatch {
  /** A null in a free table or list, which is left out. */
  onNull: (path: Path) => void;
  /** A free table whose values are all texts. */
  onTexts?: (path: Path, table: Record<string, string>) => void;
}

/** The text of a file that `name` reads to the same tree. */
export function tomlOf(name: EntrypointName, config: Table, watch: TomlWatch): string {
  // Who runs the file means to run it.
  const { dry_run: _, ...rest } = name === "rl" ? withoutContradictions(config) : config;
  const shared = name === "rl" ? sharedInto(config) : new Set<string>();
  return stringify(written(rest, rootOf(ENTRYPOINTS[name].schema), [], { ...watch, shared }));
}

interface Writing extends TomlWatch {
  /** Paths that would take a shared value. */
  shared: ReadonlySet<string>;
}

/**
 * Without what the pinned version takes for a contradiction: a shared default beside another value of a component,
 * and a folder beside an orchestrator that does not write into the usual one in it.
 */
function withoutContradictions(config: Table): Table {
  const { log, wandb, output_dir, orchestrator, ...rest } = config;
  const own = isTable(orchestrator) ? orchestrator.output_dir : undefined;
  return {
    ...rest,
    orchestrator,
    log: without(log, "json_logging"),
    wandb: without(wandb, "offline"),
    ...(own === `${String(output_dir)}/run_default` && { output_dir }),
  };
}

function without(table: unknown, key: string): unknown {
  if (!isTable(table) || table[key] !== false) return table;
  return Object.fromEntries(Object.entries(table).filter(([each]) => each !== key));
}

function written(value: unknown, shape: Shape | undefined, path: Path, watch: Writing): unknown {
  if (Array.isArray(value)) return list(value, shape, path, watch);
  if (!isTable(value)) return value;
  const sections = shape && sectionsIn(shape);
  if (!sections) return free(value, shape, path, watch);
  const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const field = fieldIn(sections, key, value);
    const inner = [...path, key];
    if (each !== null) return [[key, written(each, field?.shape ?? restIn(sections, value), inner, watch)]];
    if (!field) watch.onNull(inner);
    return field && (isSaid(field, path) || watch.shared.has(inner.join("."))) ? [[key, "None"]] : [];
  });
  return Object.fromEntries(entries);
}

/** Whether null has to be said: where something else stands for what is left out, or is inherited. */
function isSaid(field: Field, path: Path): boolean {
  const isInherited = path.at(-1) === "sampling" && typeof path.at(-2) === "number";
  return field.default !== null || isInherited;
}

function list(values: unknown[], shape: Shape | undefined, path: Path, watch: Writing): unknown[] {
  const item = shape?.kind === "list" ? shape.item : undefined;
  return values.flatMap((each, index) => {
    if (each !== null) return [written(each, item, [...path, index], watch)];
    watch.onNull([...path, index]);
    return [];
  });
}

function free(table: Table, shape: Shape | undefined, path: Path, watch: Writing): Table {
  const entries = Object.entries(table);
  const isOpen = shape?.kind === "dict" && shape.value.kind === "open";
  if (isOpen && entries.every(([, each]) => typeof each === "string" || each === null)) {
    const texts = entries.filter((entry): entry is [string, string] => entry[1] !== null);
    watch.onTexts?.(path, Object.fromEntries(texts));
  }
  return Object.fromEntries(
    entries.flatMap(([key, each]) => {
      const inner = [...path, key];
      if (each === null) watch.onNull(inner);
      return each === null ? [] : [[key, written(each, undefined, inner, watch)]];
    }),
  );
}
