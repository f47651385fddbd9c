import { badRequest, type RefusedRequest } from "./refused-request.ts";

export type Fields = Record<string, unknown>;
/** Throws where a value that is there (not null) does not fit. */
export type Rule = (value: unknown, path: string) => void;

/** Checks every field that has a rule; what is null or unknown is left alone. */
export function checkFields(rules: ReadonlyMap<string, Rule>, fields: Fields, prefix = ""): void {
  for (const key in fields) {
    const rule = rules.get(key);
    const value = fields[key];
    if (rule !== undefined && value !== null && value !== undefined) rule(value, prefix + key);
  }
}

export function integer(min: number, max = Infinity): Rule {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(path, "an integer", value);
    checkRange("integer", value, path, min, max);
  };
}

export function decimal(min: number, max = Infinity): Rule {
  return (value, path) => {
    if (typeof value !== "number") throw wrongType(path, "a decimal", value);
    checkRange("decimal", value, path, min, max);
  };
}

export const boolean: Rule = (value, path) => {
  if (typeof value !== "boolean") throw wrongType(path, "a boolean", value);
};

export const text: Rule = (value, path) => {
  if (typeof value !== "string") throw wrongType(path, "a string", value);
};

export const object: Rule = (value, path) => {
  if (!isObject(value)) throw wrongType(path, "an object", value);
};

export function oneOf(...allowed: string[]): Rule {
  return (value, path) => {
    if (typeof value !== "string") throw wrongType(path, `one of ${quoted(allowed)}`, value);
    if (!allowed.includes(value)) throw invalidValue(path, value, allowed);
  };
}

export function needText(value: unknown, path: string): string {
  if (value === undefined || value === null) throw missing(path);
  if (typeof value !== "string") throw wrongType(path, "a string", value);
  return value;
}

export function needObject(value: unknown, path: string): Fields {
  if (value === undefined || value === null) throw missing(path);
  if (!isObject(value)) throw wrongType(path, "an object", value);
  return value;
}

export function needArray(value: unknown, path: string): unknown[] {
  if (value === undefined || value === null) throw missing(path);
  if (!Array.isArray(value)) throw wrongType(path, "an array", value);
  return value;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function missing(path: string): RefusedRequest {
  return badRequest("missing_required_parameter", path, `Missing required parameter: '${path}'.`);
}

export function wrongType(path: string, expected: string, value: unknown): RefusedRequest {
  const got = typeName(value);
  return badRequest(
    "invalid_type",
    path,
    `Invalid type for '${path}': expected ${expected}, but got ${got}.`,
  );
}

export function invalidValue(path: string, value: unknown, allowed: readonly string[]): RefusedRequest {
  const shown = JSON.stringify(value).slice(0, 100);
  const message = `Invalid value for '${path}': ${shown}. Supported values are: ${quoted(allowed)}.`;
  return badRequest("invalid_value", path, message);
}

export function emptyArray(path: string): RefusedRequest {
  return badRequest("empty_array", path, `Invalid '${path}': empty array. It needs at least one element.`);
}

export function tooMany(path: string, count: number, max: number): RefusedRequest {
  const message = `Invalid '${path}': array too long. At most ${max} elements, but got ${count}.`;
  return badRequest("array_above_max_length", path, message);
}

function checkRange(
  kind: "integer" | "decimal",
  value: number,
  path: string,
  min: number,
  max: number,
): void {
  if (value < min) {
    const message = `Invalid '${path}': ${kind} below minimum value. Expected >= ${min}, but got ${value}.`;
    throw badRequest(`${kind}_below_min_value`, path, message);
  }
  if (value > max) {
    const message = `Invalid '${path}': ${kind} above maximum value. Expected <= ${max}, but got ${value}.`;
    throw badRequest(`${kind}_above_max_value`, path, message);
  }
}

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
