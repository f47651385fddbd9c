/**
 * What of a value does not fit a JSON schema, in words; undefined where it fits. Types, allowed words, bounds, keys that
 * are needed and what is in lists and objects are looked at. Further keys pass, and so does what only a pattern or a
 * condition would tell: a pattern of somebody else's may take for ever.
 *
 * @example
 * schemaFault({ score: 7 }, { type: "object", properties: { score: { enum: [0, 1] } } }); // "score is 7, expected 0 or 1"
 */
export function schemaFault(value: unknown, schema: unknown, path = ""): string | undefined {
  if (!isObject(schema)) return undefined;
  const { enum: allowed, type, minimum, maximum, anyOf, oneOf, allOf } = schema;
  const fault = (expected: string) => `${path || "it"} is ${shown(value)}, expected ${expected}`;
  const words = "const" in schema ? [schema.const] : allowed;
  if (Array.isArray(words) && !words.some((each) => JSON.stringify(each) === JSON.stringify(value)))
    return fault(words.map((each) => JSON.stringify(each)).join(" or "));
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
  if (types.length > 0 && !types.some((each) => isOf(value, each))) return fault(types.join(" or "));
  if (typeof value === "number" && typeof minimum === "number" && value < minimum)
    return fault(`${minimum} or more`);
  if (typeof value === "number" && typeof maximum === "number" && value > maximum)
    return fault(`${maximum} or less`);
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && choices.every((each) => schemaFault(value, each, path) !== undefined))
    return fault("one of the forms that the schema allows");
  const inAll = Array.isArray(allOf) ? firstFault(allOf.map((each) => [value, each, path])) : undefined;
  return inAll ?? faultWithin(value, schema, path);
}

type Part = [value: unknown, schema: unknown, path: string];

function firstFault(parts: readonly Part[]): string | undefined {
  for (const part of parts) {
    const fault = schemaFault(...part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultWithin(value: unknown, schema: Record<string, unknown>, path: string): string | undefined {
  const { properties, required, items } = schema;
  const at = (key: string | number) => (path === "" ? String(key) : `${path}.${key}`);
  if (Array.isArray(value))
    return firstFault(value.map((each: unknown, index): Part => [each, items, at(index)]));
  if (!isObject(value)) return undefined;
  const missing = Array.isArray(required)
    ? required.find((key): key is string => typeof key === "string" && !Object.hasOwn(value, key))
    : undefined;
  if (missing !== undefined) return `${at(missing)} is missing`;
  const known = Object.entries(isObject(properties) ? properties : {});
  return firstFault(
    known
      .filter(([key]) => Object.hasOwn(value, key))
      .map(([key, each]): Part => [value[key], each, at(key)]),
  );
}

function isOf(value: unknown, type: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "string":
    case "boolean":
      return typeof value === type;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    default:
      return type !== "object" || isObject(value);
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
