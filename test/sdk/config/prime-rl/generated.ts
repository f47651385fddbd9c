import * as fc from "fast-check";
import type { Path } from "../../../../sdk/config/prime-rl/types.ts";
import {
  sectionsIn,
  type Field,
  type SectionShape,
  type Shape,
} from "../../../../sdk/config/prime-rl/walk.ts";

export interface Setting {
  path: Path;
  value: unknown;
}

/** Texts that other readings would take for something else. */
const TEXT = fc.oneof(
  fc.constantFrom(
    "",
    "true",
    "1e-5",
    "007",
    "a = b",
    '"quoted"',
    "tab\tline\n",
    "é 漢 🦊",
    "--flag",
    "@ file",
    "[x]",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const KEY = fc.constantFrom("a", "b_c", "X-Session", "with space", "dotted.key", "7", "é");
/** TOML has no null, so free tables hold none. */
const FREE = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    TEXT,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(plainNumber),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(KEY, tie("value"), { maxKeys: 3 }),
  ),
})).value;

/** Up to `most` settings of a section, each with a value of its type; a section may be switched on or off. */
export function settingsOf(root: SectionShape, most: number): fc.Arbitrary<Setting[]> {
  const all = leaves(root, []);
  return fc.array(
    fc.constantFrom(...all).chain(({ path, field }) => valueOf(field).map((value) => ({ path, value }))),
    { minLength: 1, maxLength: most },
  );
}

/** The tree that says `settings`, later ones over earlier ones, on top of `base`. */
export function treeOf(base: Record<string, unknown>, settings: readonly Setting[]): Record<string, unknown> {
  const tree = structuredClone(base);
  for (const { path, value } of settings) {
    let held = tree;
    for (const step of path.slice(0, -1)) {
      if (typeof held[step] !== "object" || held[step] === null) held[step] = {};
      held = held[step] as Record<string, unknown>;
    }
    held[String(path.at(-1))] = value;
  }
  return tree;
}

function leaves(section: SectionShape, at: Path): { path: Path; field: Field }[] {
  return [...section.fields.values()].flatMap((field) => {
    const path = [...at, field.name];
    const inner = sectionsIn(field.shape);
    const own = field.isNullable || inner === undefined || inner.kind === "union" ? [{ path, field }] : [];
    return inner?.kind === "section" ? [...own, ...leaves(inner, path)] : own;
  });
}

function valueOf({ shape, isNullable }: Field): fc.Arbitrary<unknown> {
  const value = arbitrary(shape);
  return isNullable
    ? fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary: value })
    : value;
}

function arbitrary(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "section":
      return sectionValue(shape);
    case "union":
      return fc
        .constantFrom(...shape.variants)
        .chain(([tag, variant]) => sectionValue(variant).map((value) => ({ ...value, [shape.tag]: tag })));
    case "list":
      return fc.array(arbitrary(shape.item), { maxLength: 3 });
    case "dict":
      return fc.dictionary(KEY, arbitrary(shape.value), { maxKeys: 3 });
    case "choice":
      return fc.oneof(...shape.options.map(arbitrary));
    case "open":
      return FREE;
    case "scalar":
      if (shape.type === "literal") return fc.constantFrom(...shape.values);
      if (shape.type === "boolean") return fc.boolean();
      return shape.type === "string" ? TEXT : number(shape.type === "integer", shape.bounds);
  }
}

/** Required fields always, others seldom: what nobody says takes its default. */
function sectionValue(shape: SectionShape): fc.Arbitrary<Record<string, unknown>> {
  const fields = [...shape.fields.values()].map((field) => {
    const value = valueOf(field);
    const chance = field.isRequired ? value : fc.option(value, { freq: 1, nil: undefined });
    return chance.map((each) => [field.name, each] as const);
  });
  return fc
    .tuple(...fields)
    .map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
}

function number(isInteger: boolean, bounds: readonly string[]): fc.Arbitrary<number> {
  const limit = (word: string) =>
    Number(bounds.find((each) => each.startsWith(word))?.slice(word.length) ?? NaN);
  const above = limit("greater than ");
  const min = Number.isNaN(above) ? limit("at least ") : above + 1;
  const max = limit("at most ");
  const from = Number.isNaN(min) ? 0 : min;
  const to = Number.isNaN(max) ? from + 64 : max;
  return isInteger
    ? fc.integer({ min: from, max: to })
    : fc.double({ min: from, max: to, noNaN: true }).map(plainNumber);
}

/** No text says minus zero. */
function plainNumber(value: number): number {
  return value === 0 ? 0 : value;
}
