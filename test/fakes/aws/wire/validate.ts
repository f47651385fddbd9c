import type { Shape } from "./schema.ts";

/**
 * Everything about `value` that its model does not allow: unknown members, missing required ones, wrong types.
 * `null` and `undefined` count as absent, as the SDK's serializers treat them.
 */
export function problemsOf(shape: Shape, value: unknown, path = ""): string[] {
  switch (shape.kind) {
    case "structure":
      return ofStructure(shape, value, path);
    case "list":
      if (!Array.isArray(value)) return [wrong(path, "a list", value)];
      return value.flatMap((each, index) => problemsOf(shape.member(), each, `${path}[${index}]`));
    case "map":
      if (!isPlainObject(value)) return [wrong(path, "a map", value)];
      return Object.entries(value).flatMap(([key, each]) => problemsOf(shape.value(), each, join(path, key)));
    case "timestamp":
      return typeof value === "number" || value instanceof Date ? [] : [wrong(path, "a timestamp", value)];
    case "blob":
      return typeof value === "string" || value instanceof Uint8Array ? [] : [wrong(path, "bytes", value)];
    case "document":
      return [];
    default:
      return typeof value === shape.kind ? [] : [wrong(path, `a ${shape.kind}`, value)];
  }
}

function ofStructure(shape: Shape & { kind: "structure" }, value: unknown, path: string): string[] {
  if (!isPlainObject(value)) return [wrong(path, shape.name, value)];
  const missing = shape.required
    .filter((name) => value[name] === undefined || value[name] === null)
    .map((name) => `${join(path, name)} is required by ${shape.name}`);
  const inside = Object.entries(value).flatMap(([name, each]) => {
    const member = shape.members.get(name);
    if (member === undefined) return [`${join(path, name)} is not a member of ${shape.name}`];
    if (each === undefined || each === null) return [];
    return problemsOf(member(), each, join(path, name));
  });
  return [...missing, ...inside];
}

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function wrong(path: string, wanted: string, value: unknown): string {
  const found = value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
  return `${path === "" ? "the request" : path} must be ${wanted}, not ${found}`;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
