/**
 * Texts to what they stand for. What cannot be converted stays as it is, for the schema to refuse; what is of its
 * type already is never changed, so converting twice changes nothing.
 *
 * @module
 */
import {
  fieldIn,
  isTable,
  restIn,
  sectionsIn,
  variantOf,
  type ScalarShape,
  type SectionShape,
  type Shape,
  type UnionShape,
} from "./walk.ts";

const TRUE = new Set(["1", "true", "t", "yes", "y", "on"]);
const FALSE = new Set(["0", "false", "f", "no", "n", "off"]);
const INTEGER = /^[+-]?\d+(_\d+)*(\.0+)?$/;
const NUMBER = /^[+-]?(\d+(_\d+)*\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A tree with the values that `shape` asks for; unions without a tag get their default one. */
export function coerced(value: unknown, shape: Shape): unknown {
  switch (shape.kind) {
    case "scalar":
      return scalar(value, shape);
    case "list":
      return Array.isArray(value) ? value.map((item) => coerced(item, shape.item)) : value;
    case "dict":
      return isTable(value) ? mapped(value, (item) => coerced(item, shape.value)) : value;
    case "section":
      return isTable(value) ? fields(value, shape) : value;
    case "union":
      return isTable(value) ? fields(tagged(value, shape), shape) : value;
    case "choice":
      return choice(value, shape.options);
    case "open":
      return value;
  }
}

/** The text "None" means null where a setting stands, and only there: lists and free tables keep it. */
function fields(table: Record<string, unknown>, shape: SectionShape | UnionShape): Record<string, unknown> {
  return mapped(table, (item, key) => {
    const field = fieldIn(shape, key, table);
    if (field) return item === "None" ? null : coerced(item, field.shape);
    const rest = restIn(shape, table);
    return rest ? coerced(item, rest) : item;
  });
}

function tagged(table: Record<string, unknown>, union: UnionShape): Record<string, unknown> {
  if (table[union.tag] !== undefined || union.defaultVariant === undefined) return table;
  return variantOf(union, table) ? { [union.tag]: union.defaultVariant, ...table } : table;
}

function choice(value: unknown, options: readonly Shape[]): unknown {
  if (isTable(value)) {
    const sections = options.map(sectionsIn).find((found) => found !== undefined);
    const shape = sections ?? options.find(({ kind }) => kind === "dict");
    return shape ? coerced(value, shape) : value;
  }
  if (Array.isArray(value)) {
    const list = options.find(({ kind }) => kind === "list");
    return list ? coerced(value, list) : value;
  }
  const scalars = options.filter((option) => option.kind === "scalar");
  if (scalars.some((option) => isOf(value, option))) return value;
  for (const option of scalars) {
    const converted = scalar(value, option);
    if (converted !== value) return converted;
  }
  return value;
}

function isOf(value: unknown, { type, values }: ScalarShape): boolean {
  if (type === "literal") return values.includes(value);
  return typeof value === (type === "integer" ? "number" : type);
}

function scalar(value: unknown, { type }: ScalarShape): unknown {
  if (type === "boolean") return boolean(value);
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (type === "integer" && INTEGER.test(text)) return Number(text.replaceAll("_", ""));
  if (type !== "number" || !NUMBER.test(text)) return value;
  const number = Number(text.replaceAll("_", ""));
  // 1e400: larger than any number; refused as it was written.
  return Number.isFinite(number) ? number : value;
}

function boolean(value: unknown): unknown {
  if (value === 0 || value === 1) return value === 1;
  if (typeof value !== "string") return value;
  const text = value.trim().toLowerCase();
  return TRUE.has(text) || (FALSE.has(text) ? false : value);
}

function mapped(
  table: Record<string, unknown>,
  change: (item: unknown, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).map(([key, item]) => [key, change(item, key)]));
}
