import { isTable } from "./walk.ts";
import type { Origin, Path } from "./types.ts";

/** Where the values of a tree come from: the same tree, with origins in place of values. */
export interface Origins {
  origin?: Origin | undefined;
  below?: Map<string | number, Origins> | undefined;
}

/** The origin of exactly this path. */
export function originAt(origins: Origins, path: Path): Origin | undefined {
  return nodeAt(origins, path)?.origin;
}

/** The origin of a path; of a section without one, of its first leaf that has one. */
export function originIn(origins: Origins, path: Path): Origin | undefined {
  const node = nodeAt(origins, path);
  return node && firstOrigin(node);
}

/** The origin of a path or of the nearest section around it that has one: where to look for what is missing. */
export function originAround(origins: Origins, path: Path): Origin | undefined {
  for (let length = path.length; length >= 0; length--) {
    const around = path.slice(0, length);
    const found = length === path.length ? originIn(origins, around) : originAt(origins, around);
    if (found) return found;
  }
  return undefined;
}

function nodeAt(origins: Origins, path: Path): Origins | undefined {
  let node: Origins | undefined = origins;
  for (const step of path) node = node?.below?.get(step);
  return node;
}

function firstOrigin(node: Origins): Origin | undefined {
  if (node.origin) return node.origin;
  for (const child of node.below?.values() ?? []) {
    const found = firstOrigin(child);
    if (found) return found;
  }
  return undefined;
}

/** Puts `node` at `path`, in the place of what was there. */
export function graft(origins: Origins, path: Path, node: Origins): void {
  const [step, ...rest] = path;
  if (step === undefined) {
    origins.origin = node.origin;
    origins.below = node.below;
    return;
  }
  origins.below ??= new Map();
  if (rest.length === 0) {
    origins.below.set(step, node);
    return;
  }
  const next = origins.below.get(step) ?? {};
  origins.below.set(step, next);
  graft(next, rest, node);
}

export function prune(origins: Origins, path: Path): void {
  const parent = nodeAt(origins, path.slice(0, -1));
  const last = path.at(-1);
  if (last !== undefined) parent?.below?.delete(last);
}

/** The same origin for a value and all that is in it. */
export function allFrom(value: unknown, origin: Origin): Origins {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : isTable(value)
      ? Object.entries(value)
      : [];
  if (entries.length === 0) return { origin };
  return { origin, below: new Map(entries.map(([step, item]) => [step, allFrom(item, origin)])) };
}

/** An origin as people and tools read it: `base.toml:12`, `--trainer.optim.lr`, `default`, `model.name (base.toml:3)`. */
export function originText(origin: Origin | undefined): string {
  if (!origin) return "default";
  const place = origin.file === undefined ? origin.flag : placeText(origin.file, origin.line);
  if (origin.kind === "shared" || origin.kind === "derived") {
    const from = origin.from ?? origin.kind;
    return place === undefined ? from : `${from} (${place})`;
  }
  return place ?? "default";
}

function placeText(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}

/**
 * Where each value of a resolved tree comes from, by dotted path. Lists of plain values are one value; an empty
 * table is one, too.
 */
export function provenanceOf(config: unknown, origins: Origins): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (value: unknown, node: Origins | undefined, path: string): void => {
    const isList = Array.isArray(value) && value.some(isTable);
    const isFull = isTable(value) && (path === "" || Object.keys(value).length > 0);
    if (!isList && !isFull) {
      found[path] = originText(node && firstOrigin(node));
      return;
    }
    const entries = isList ? [...value.entries()] : Object.entries(value);
    for (const [step, item] of entries) {
      visit(item, node?.below?.get(step), path === "" ? stepText(step) : `${path}.${stepText(step)}`);
    }
  };
  visit(config, origins, "");
  return found;
}

/** `orchestrator.train.env.0.args`. Keys that hold a dot are quoted. */
export function pathText(path: Path): string {
  return path.map(stepText).join(".");
}

function stepText(step: string | number): string {
  return typeof step === "string" && /[.\s"]|^$/.test(step) ? JSON.stringify(step) : String(step);
}

/** The flag that sets a path: `--orchestrator.train.env.0.args`. */
export function flagText(path: Path): string {
  return `--${path.map((step) => String(step).replaceAll("_", "-")).join(".")}`;
}
