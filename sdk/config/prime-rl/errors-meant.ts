import { nearestName } from "../../schema/nearest-name.ts";
import type { Path } from "./types.ts";
import { below, leavesOf, sectionsIn, type SectionShape, type Shape } from "./walk.ts";

/**
 * The setting that an unknown path most likely means: a near name in the same section, else the same name in
 * another section, else the nearest whole path.
 */
export function meant(path: Path, root: SectionShape, tree: unknown): Path | undefined {
  const parent = path.slice(0, -1);
  // `no_` is how a flag switches something off.
  const name = String(path.at(-1)).replace(/^no[-_]/, "");
  const sibling = nearestName(name, namesAt(root, parent, tree));
  if (sibling !== undefined) return [...parent, sibling];
  const all = allPaths(root, parent);
  const same = all.filter((each) => each.at(-1) === name);
  if (same.length > 0) return closest(path, same);
  const whole = nearestName(
    path.join("."),
    all.map((each) => each.join(".")),
  );
  return all.find((each) => each.join(".") === whole);
}

/** Of paths that end alike, the one that shares most steps; of several the shortest. */
function closest(path: Path, candidates: readonly Path[]): Path | undefined {
  const shared = (each: Path) => each.filter((step) => path.includes(step)).length;
  return [...candidates].sort((a, b) => shared(b) - shared(a) || a.length - b.length)[0];
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
