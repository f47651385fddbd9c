import type { Path, Remark } from "./finding.ts";
import { bare, childNode, isInteger, isNullable, type SchemaNode } from "./schema-node.ts";
import { YamlDate } from "./yaml-scalar.ts";

const TRUE = /^(?:true|t|yes|y|on|1)$/i;
const FALSE = /^(?:false|f|no|n|off|0)$/i;
const NUMBER = /^[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[-+]?\d+)?$/i;
const INFINITE = /^[-+]?inf(?:inity)?$/i;

/**
 * Reads values as the schema expects them, as forgivingly as projects were read before: `"4"` and `4.0` are a
 * whole number, `1e-4` a number though YAML 1.1 calls it a text, `yes` and 1 are true. What cannot be meant is
 * remarked on and left out of the result, so that the schema does not complain a second time.
 */
export function coerced(node: SchemaNode, value: unknown, remarks: Remark[], path: Path = []): unknown {
  if (value === undefined || value === null) return value;
  const inner = bare(node);
  switch (inner.def.type) {
    case "object":
      return isPlainObject(value) ? objectOf(inner, value, remarks, path) : value;
    case "array":
      return Array.isArray(value) && inner.def.element
        ? value.map((item, index) => coerced(inner.def.element ?? inner, item, remarks, [...path, index]))
        : value;
    case "union": {
      const wanted = (inner.def.options ?? []).map(bare);
      const fitting = wanted.find(({ def }) => (def.type === "array") === Array.isArray(value));
      return fitting ? coerced(fitting, value, remarks, path) : value;
    }
    case "number":
      return numberOf(value, isInteger(inner), remarks, path);
    case "boolean":
      return booleanOf(value);
    case "enum":
      return enumOf(inner, node, value, remarks, path);
    case "string":
      return textOf(value, remarks, path);
    default:
      return value;
  }
}

function objectOf(node: SchemaNode, value: object, remarks: Remark[], path: Path): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]): [string, unknown] => {
      const child = childNode(node, key);
      return [key, child ? coerced(child, each, remarks, [...path, key]) : each];
    }),
  );
}

function numberOf(value: unknown, isWhole: boolean, remarks: Remark[], path: Path): unknown {
  if (typeof value === "boolean") {
    remarks.push({
      code: "wrong_type",
      severity: "warning",
      path,
      message: `is ${value}, which counts as ${Number(value)}`,
      hint: `Write ${Number(value)} if that is meant.`,
    });
    return Number(value);
  }
  const number = typeof value === "string" ? numberIn(value.trim()) : value;
  if (typeof number !== "number") return value;
  // 4.0 is whole; the schema says what is not, and what is not finite.
  return isWhole && Number.isInteger(number) ? Math.trunc(number) : number;
}

function numberIn(text: string): number | undefined {
  if (NUMBER.test(text)) return Number(text.replaceAll("_", ""));
  if (INFINITE.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return /^[-+]?nan$/i.test(text) ? Number.NaN : undefined;
}

function booleanOf(value: unknown): unknown {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string") return value;
  if (TRUE.test(value)) return true;
  return FALSE.test(value) ? false : value;
}

/** `off`, `no` and `none` where a word is expected: YAML made a truth value of them. */
function enumOf(inner: SchemaNode, node: SchemaNode, value: unknown, remarks: Remark[], path: Path): unknown {
  const words = Object.keys(inner.def.entries ?? {});
  if (value !== false || !words.includes("disabled")) return value;
  remarks.push({
    code: "wrong_type",
    severity: "warning",
    path,
    message: "is a word that YAML reads as false; taken as disabled",
    hint: `Write disabled${isNullable(node) ? ", or null for the model's default" : ""}.`,
  });
  return "disabled";
}

function textOf(value: unknown, remarks: Remark[], path: Path): unknown {
  const what =
    value instanceof YamlDate
      ? `the date ${value.text}`
      : typeof value === "number"
        ? `the number ${value}`
        : typeof value === "boolean"
          ? `the truth value ${value}`
          : undefined;
  if (what === undefined) return value;
  const shown = value instanceof YamlDate ? value.text : String(value);
  remarks.push({
    code: "wrong_type",
    path,
    message: `is ${what}, expected a text`,
    hint: `Put it in quotes: "${shown}".`,
  });
  return shown;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof YamlDate);
}
