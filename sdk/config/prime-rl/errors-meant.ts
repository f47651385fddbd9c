import { distance } from "fastest-levenshtein";
import type { Path } from "./types.ts";
import { below, leavesOf, sectionsIn, type SectionShape, type Shape } from "./walk.ts";

/**
 * The setting that an unknown path most likely means: a near name in the same section, else the same name in
 * another section, else the nearest whole path.
 */
export function meant(path: Path, root: SectionShape, tree: unknown): Path | undefined {
  const parent = path.slice(0, -1);
  const name = folded(String(path.at(-1)));
  const siblings = namesAt(root, parent, tree).map((each): Path => [...parent, each]);
  const sibling = nearest(name, siblings, (each) => folded(String(each.at(-1))));
  if (sibling) return sibling;
  const all = allPaths(root, parent);
  const whole = path.map(String).join(".");
  const same = all.filter((each) => folded(String(each.at(-1))) === name);
  if (same.length > 0) return byDistance(whole, same, (each) => each.join("."))[0];
  return nearest(whole, all, (each) => each.join("."));
}

function namesAt(root: SectionShape, path: Path, tree: unknown): string[] {
  let shape: Shape | undefined = root;
  let value = tree;
  for (const step of path) {
    shape = shape && below(shape, step, value);
    value = (value as Record<string | number, unknown> | undefined)?.[step];
  }
  const sections = shape && sectionsIn(shape);
  if (!sections) return [];
  if (sections.kind === "section") return [...sections.fields.keys()];
  return [...new Set([...sections.variants.values()].flatMap((each) => [...each.fields.keys()]))];
}

/** Leaves and sections; inside lists only at the positions that the unknown path has. */
function allPaths(root: SectionShape, parent: Path): Path[] {
  const found = new Map<string, Path>();
  const add = (path: Path) => found.set(path.join("."), path);
  for (const leaf of leavesOf(root))
    for (let length = 1; length <= leaf.length; length++) add(leaf.slice(0, length));
  for (let length = 1; length <= parent.length; length++) {
    if (typeof parent[length - 1] !== "number") continue;
    for (const name of namesAt(root, parent.slice(0, length), undefined))
      add([...parent.slice(0, length), name]);
  }
  return [...found.values()];
}

function nearest(
  name: string,
  candidates: readonly Path[],
  textOf: (path: Path) => string,
): Path | undefined {
  const [best] = byDistance(name, candidates, textOf);
  if (!best) return undefined;
  return distance(name, textOf(best)) <= Math.max(1, Math.floor(name.length / 3)) ? best : undefined;
}

function byDistance(name: string, candidates: readonly Path[], textOf: (path: Path) => string): Path[] {
  return candidates
    .map((path) => ({ path, edits: distance(name, textOf(path)) }))
    .sort((a, b) => a.edits - b.edits)
    .map(({ path }) => path);
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/^no[-_]|[-_]/g, "");
}
