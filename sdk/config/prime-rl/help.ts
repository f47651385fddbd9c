/**
 * The whole schema as help: every setting with its flag, what it takes, what it is for and its default.
 *
 * @module
 */
import { flagText, pathText } from "./provenance.ts";
import type { Path } from "./types.ts";
import { sectionsIn, type Field, type SectionShape, type Shape, type UnionShape } from "./walk.ts";

/** A heading, and below it one row for each setting. */
export interface HelpGroup {
  title: string;
  note: string;
  rows: { flag: string; takes: string; text: string }[];
}

/** The settings at and below `path`, section by section, in the order of the schema; none where there are none. */
export function helpGroups(root: SectionShape, path: Path = []): HelpGroup[] {
  const all = groupsOf(root, [], "", new Set());
  const steps = path.map((step) => (typeof step === "number" ? "N" : step));
  const inside = all.filter(({ at }) => steps.every((step, index) => at[index] === step));
  if (inside.length > 0) return inside;
  const flag = flagText(steps);
  return all.flatMap((group) => {
    const rows = group.rows.filter((row) => row.flag.split(", ").includes(flag));
    return rows.length > 0 ? [{ ...group, rows }] : [];
  });
}

type PlacedGroup = HelpGroup & { at: Path };

function groupsOf(
  shape: SectionShape | UnionShape,
  at: Path,
  note: string,
  seen: ReadonlySet<Shape>,
): PlacedGroup[] {
  // A section within itself would never end.
  if (seen.has(shape)) return [];
  const inside = new Set([...seen, shape]);
  if (shape.kind === "section") return sectionGroups(shape.fields.values(), at, titleOf(at), note, inside);
  const variants = [...new Set(shape.variants.values())];
  const isShared = ({ name }: Field) => variants.every((variant) => variant.fields.has(name));
  const shared = [...(variants[0]?.fields.values() ?? [])].filter(isShared);
  const tag = tagField(shape);
  return [
    ...sectionGroups(
      [tag, ...shared.filter(({ name }) => name !== shape.tag)],
      at,
      titleOf(at),
      note,
      inside,
    ),
    ...variants.flatMap((variant) => {
      const own = [...variant.fields.values()].filter((field) => !isShared(field));
      const tags = [...shape.variants].flatMap(([value, each]) => (each === variant ? [value] : []));
      return sectionGroups(own, at, `${titleOf(at)}, ${shape.tag} = ${tags.join(" or ")}`, "", inside);
    }),
  ].filter(({ rows }) => rows.length > 0);
}

function sectionGroups(
  fields: Iterable<Field>,
  at: Path,
  title: string,
  note: string,
  seen: ReadonlySet<Shape>,
): PlacedGroup[] {
  const own: PlacedGroup = { title, note, rows: [], at };
  const below: PlacedGroup[] = [];
  for (const field of fields) {
    const path = [...at, field.name];
    const sections = sectionsIn(field.shape);
    const items = field.shape.kind === "list" ? sectionsIn(field.shape.item) : undefined;
    if (!sections || field.shape.kind === "choice" || field.isNullable) own.rows.push(rowOf(field, path));
    if (sections) below.push(...groupsOf(sections, path, sectionNote(field), seen));
    if (items) below.push(...groupsOf(items, [...path, "N"], `one [[${pathText(path)}]] for each`, seen));
  }
  return own.rows.length > 0 ? [own, ...below] : below;
}

function titleOf(at: Path): string {
  return at.length === 0 ? "Settings" : pathText(at);
}

function tagField({ tag, variants, defaultVariant }: UnionShape): Field {
  return {
    name: tag,
    shape: { kind: "scalar", type: "literal", values: [...variants.keys()], bounds: [] },
    isNullable: false,
    isRequired: defaultVariant === undefined,
    default: defaultVariant,
    description: "Which of them it is; each has settings of its own.",
    aliases: [],
  };
}

function sectionNote({ description, isNullable, default: standard }: Field): string {
  const state = isNullable ? (standard === null ? "off unless named" : "on unless switched off") : "";
  return [description.replace(/\.$/, ""), state].filter(Boolean).join("; ");
}

function rowOf(field: Field, path: Path): HelpGroup["rows"][number] {
  const { shape, description, aliases, isRequired, isNullable } = field;
  const isSection = shape.kind === "section" || shape.kind === "union";
  const facts = [
    ...(isSection ? [] : [isRequired ? "required" : `default: ${defaultText(field.default)}`]),
    ...(isSection && isNullable ? [field.default === null ? "off by default" : "on by default"] : []),
    ...(shape.kind === "scalar" ? shape.bounds : []),
    ...aliases.filter((alias) => alias.length > 1).map((alias) => `also ${alias}`),
  ];
  const short = aliases.find((alias) => alias.length === 1);
  return {
    flag: `${short === undefined ? "" : `-${short}, `}${flagText(path)}`,
    takes: isSection ? "" : takesText(shape),
    text: `${description}${description ? " " : ""}(${facts.join("; ")})`,
  };
}

function defaultText(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}

/** What stands after a flag. */
export function takesText(shape: Shape): string {
  switch (shape.kind) {
    case "list":
      return sectionsIn(shape.item) ? "JSON" : `${takesText(shape.item)}...`;
    case "dict":
    case "section":
    case "union":
      return "JSON";
    case "choice":
      return shape.options.map(takesText).join("|");
    case "open":
      return "VALUE";
    case "scalar":
      if (shape.type === "literal") return shape.values.map(String).join("|");
      return { string: "TEXT", integer: "INT", number: "NUMBER", boolean: "" }[shape.type];
  }
}
