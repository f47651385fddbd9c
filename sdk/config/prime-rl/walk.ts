/**
 * What a schema looks like, for the parts of the engine that ask what may stand at a path: flags, aliases,
 * coercion, help, errors. Validation itself stays with the schema.
 *
 * @module
 */
import * as z from "zod";
import type { FieldMeta, Path } from "./types.ts";

export type Shape = SectionShape | UnionShape | ListShape | DictShape | ScalarShape | ChoiceShape | OpenShape;

export interface Field {
  /** In snake_case, as in files. */
  name: string;
  shape: Shape;
  isNullable: boolean;
  isRequired: boolean;
  /** Where there is one; a section that makes itself has `{}` or nothing. */
  default: unknown;
  description: string;
  aliases: readonly string[];
}

export interface SectionShape {
  kind: "section";
  fields: ReadonlyMap<string, Field>;
  /** Every spelling, canonical names included, with the canonical name. */
  spellings: ReadonlyMap<string, string>;
  /** What keys without a field may hold; none: they are refused. */
  rest: Shape | undefined;
  description: string;
}

/** Sections told apart by the value of one field. */
export interface UnionShape {
  kind: "union";
  tag: string;
  /** By tag value. */
  variants: ReadonlyMap<string, SectionShape>;
  defaultVariant: string | undefined;
}

export interface ListShape {
  kind: "list";
  item: Shape;
}

export interface DictShape {
  kind: "dict";
  value: Shape;
}

export interface ScalarShape {
  kind: "scalar";
  type: "string" | "integer" | "number" | "boolean" | "literal";
  /** Of a literal: what it may be. */
  values: readonly unknown[];
  /** Of a number: `at least 1`. */
  bounds: readonly string[];
}

/** Any of several that no tag tells apart: `int | "auto"`, `"policy" | FrozenModel`. */
export interface ChoiceShape {
  kind: "choice";
  options: readonly Shape[];
}

/** Anything. */
export interface OpenShape {
  kind: "open";
}

const OPEN: OpenShape = { kind: "open" };
const shapes = new WeakMap<z.core.$ZodType, Field>();

/** What may stand where `schema` is asked for. */
export function shapeOf(schema: z.core.$ZodType): Shape {
  return fieldOf("", schema).shape;
}

/** The root of an entrypoint's schema. Throws where it is no object, which only a mistake in our own can cause. */
export function rootOf(schema: z.core.$ZodType): SectionShape {
  const shape = shapeOf(schema);
  if (shape.kind !== "section") throw new Error("The schema of an entrypoint has to be an object.");
  return shape;
}

function fieldOf(name: string, schema: z.core.$ZodType): Field {
  const known = shapes.get(schema);
  if (known) return known.name === name ? known : { ...known, name };
  const field = read(name, schema);
  shapes.set(schema, field);
  return field;
}

/** Takes the wrappers off: what each says about the field, then the shape inside. */
function read(name: string, schema: z.core.$ZodType): Field {
  const found: Omit<Field, "shape"> & { meta: FieldMeta } = {
    name,
    isNullable: false,
    isRequired: true,
    default: undefined,
    description: "",
    aliases: [],
    meta: {},
  };
  let inner = schema;
  for (;;) {
    // What stands further out wins.
    found.meta = { ...(z.globalRegistry.get(inner) as FieldMeta | undefined), ...found.meta };
    const { def } = (inner as z.core.$ZodTypes)._zod;
    if (def.type === "default" || def.type === "prefault") {
      found.default ??= def.defaultValue;
      found.isRequired = false;
    } else if (def.type === "nullable") found.isNullable = true;
    else if (def.type === "optional") found.isRequired = false;
    else if (def.type === "pipe") {
      inner = def.in;
      continue;
    } else if (def.type === "lazy") {
      inner = def.getter();
      continue;
    } else if (def.type !== "readonly") break;
    inner = def.innerType;
  }
  const { meta, ...field } = found;
  return {
    ...field,
    description: meta.description ?? "",
    aliases: meta.aliases ?? [],
    shape: inside(inner, meta),
  };
}

function inside(schema: z.core.$ZodType, meta: FieldMeta): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return section(def, meta);
    case "union":
      return "discriminator" in def
        ? union(def as z.core.$ZodDiscriminatedUnionDef, meta)
        : { kind: "choice", options: def.options.map(shapeOf) };
    case "array":
      return { kind: "list", item: shapeOf(def.element) };
    case "record":
      return { kind: "dict", value: shapeOf(def.valueType) };
    case "string":
      return scalar("string");
    case "boolean":
      return scalar("boolean");
    case "number":
      return { ...scalar(isInteger(def) ? "integer" : "number"), bounds: boundsOf(def) };
    case "literal":
      return { ...scalar("literal"), values: def.values };
    case "enum":
      return { ...scalar("literal"), values: Object.values(def.entries) };
    default:
      return OPEN;
  }
}

function scalar(type: ScalarShape["type"]): ScalarShape {
  return { kind: "scalar", type, values: [], bounds: [] };
}

function isInteger(def: z.core.$ZodNumberDef): boolean {
  const formats = [def, ...(def.checks ?? []).map((check) => check._zod.def)] as { format?: string }[];
  return formats.some(({ format }) => format?.includes("int"));
}

function boundsOf(def: z.core.$ZodNumberDef): string[] {
  return (def.checks ?? []).flatMap((check) => {
    const bound = check._zod.def as z.core.$ZodCheckGreaterThanDef | z.core.$ZodCheckLessThanDef;
    if (bound.check === "greater_than")
      return `${bound.inclusive ? "at least" : "greater than"} ${String(bound.value)}`;
    if (bound.check === "less_than")
      return `${bound.inclusive ? "at most" : "less than"} ${String(bound.value)}`;
    return [];
  });
}

function section(def: z.core.$ZodObjectDef, meta: FieldMeta): SectionShape {
  const fields = new Map<string, Field>();
  const spellings = new Map<string, string>();
  for (const [name, schema] of Object.entries(def.shape)) {
    const field = fieldOf(name, schema);
    fields.set(name, field);
    for (const spelling of [name, ...field.aliases]) spellings.set(spelling, name);
  }
  const isStrict = def.catchall === undefined || def.catchall._zod.def.type === "never";
  return {
    kind: "section",
    fields,
    spellings,
    rest: isStrict ? undefined : shapeOf(def.catchall as z.core.$ZodType),
    description: meta.description ?? "",
  };
}

function union(def: z.core.$ZodDiscriminatedUnionDef, meta: FieldMeta): UnionShape {
  const variants = new Map<string, SectionShape>();
  for (const option of def.options) {
    const shape = shapeOf(option);
    if (shape.kind !== "section") continue;
    const tag = shape.fields.get(def.discriminator)?.shape;
    const values = tag?.kind === "scalar" ? tag.values : [];
    for (const value of values) variants.set(String(value), shape);
  }
  return { kind: "union", tag: def.discriminator, variants, defaultVariant: meta.defaultVariant };
}

/** The variant that `table` is of: by its tag, else the default one. */
export function variantOf(shape: UnionShape, table: unknown): SectionShape | undefined {
  const tag = isTable(table) ? table[shape.tag] : undefined;
  const name = tag === undefined ? shape.defaultVariant : tag;
  return typeof name === "string" ? shape.variants.get(name) : undefined;
}

/** The section, or union of sections, that a shape is or may be. */
export function sectionsIn(shape: Shape): SectionShape | UnionShape | undefined {
  if (shape.kind === "section" || shape.kind === "union") return shape;
  if (shape.kind !== "choice") return undefined;
  return shape.options.map(sectionsIn).find((found) => found !== undefined);
}

/**
 * The field of a section that `spelling` means. In a union: of the variant of `table` first, then of any; what a
 * table is of may be said elsewhere.
 */
export function fieldIn(
  shape: SectionShape | UnionShape,
  spelling: string,
  table?: unknown,
): Field | undefined {
  if (shape.kind === "section") {
    const name = shape.spellings.get(spelling);
    return name === undefined ? undefined : shape.fields.get(name);
  }
  const first = variantOf(shape, table);
  for (const variant of [...(first ? [first] : []), ...shape.variants.values()]) {
    const field = fieldIn(variant, spelling);
    if (field) return field;
  }
  return undefined;
}

/** What keys without a field may hold in the variant of `table`, or in any. */
export function restIn(shape: SectionShape | UnionShape, table?: unknown): Shape | undefined {
  if (shape.kind === "section") return shape.rest;
  const variant = variantOf(shape, table);
  return variant ? variant.rest : [...shape.variants.values()].find((each) => each.rest)?.rest;
}

/** The shape at one more step down, where there is one. */
export function below(shape: Shape, step: string | number, value?: unknown): Shape | undefined {
  if (shape.kind === "list") return typeof step === "number" ? shape.item : undefined;
  if (shape.kind === "dict") return shape.value;
  if (shape.kind === "open") return OPEN;
  const sections = sectionsIn(shape);
  if (sections) return fieldIn(sections, String(step), value)?.shape ?? restIn(sections, value);
  const options = shape.kind === "choice" ? shape.options : [];
  return options.map((option) => below(option, step, value)).find((found) => found !== undefined);
}

/** A plain object: what a table is once it is read. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The paths of all plain settings in a shape, in the order of the schema; nothing inside lists or dictionaries. */
export function leavesOf(shape: Shape | undefined): Path[] {
  const sections = shape && sectionsIn(shape);
  if (!sections) return [[]];
  const fields =
    sections.kind === "section"
      ? [sections.fields]
      : [...sections.variants.values()].map((each) => each.fields);
  const names = new Map(fields.flatMap((each) => [...each]));
  return [...names].flatMap(([name, field]) => leavesOf(field.shape).map((leaf) => [name, ...leaf]));
}
