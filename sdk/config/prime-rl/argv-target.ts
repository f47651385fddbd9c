import {
  below,
  fieldIn,
  restIn,
  sectionsIn,
  type SectionShape,
  type Shape,
  type UnionShape,
} from "./walk.ts";
import type { Path } from "./types.ts";

/** What a dotted flag names. */
export interface Target {
  path: Path;
  /** None: the schema knows no such path. */
  shape: Shape | undefined;
  isNullable: boolean;
}

/**
 * Finds what a flag without its dashes means: kebab-case or snake_case, old names too, positions in lists. Names
 * of dictionary entries stay as they are typed, except in free tables, whose keys are snake_case like the rest.
 *
 * @example
 * targetOf("orchestrator.train.env.0.max-turns", root).path; // ["orchestrator", "train", "env", 0, "max_turns"]
 */
export function targetOf(name: string, root: SectionShape): Target {
  let target: Target = { path: [], shape: root, isNullable: false };
  for (const word of name.split(".")) target = next(target, word);
  return target;
}

function next({ path, shape }: Target, word: string): Target {
  const sections = shape && sectionsIn(shape);
  if (sections) {
    const found = sectionStep(sections, word);
    if (found) return { ...found, path: [...path, ...found.path] };
  } else if (shape) {
    const step = stepFor(shape, word);
    const inner = below(shape, step);
    if (inner) return { path: [...path, step], shape: inner, isNullable: false };
  }
  return { path: [...path, position(word) ?? snake(word)], shape: undefined, isNullable: false };
}

function sectionStep(sections: SectionShape | UnionShape, word: string): Target | undefined {
  const field = fieldIn(sections, word) ?? fieldIn(sections, snake(word));
  if (field) return { path: [field.name], shape: field.shape, isNullable: field.isNullable };
  const rest = restIn(sections);
  return rest && { path: [snake(word)], shape: rest, isNullable: false };
}

function stepFor(shape: Shape, word: string): string | number {
  if (shape.kind === "list") return position(word) ?? snake(word);
  // Names of environment variables and headers are none of ours.
  return shape.kind === "dict" && shape.value.kind !== "open" ? word : snake(word);
}

function position(word: string): number | undefined {
  return /^\d{1,6}$/.test(word) ? Number(word) : undefined;
}

function snake(word: string): string {
  return word.replaceAll("-", "_");
}
