import { isObject } from "../row-context.ts";

/**
 * Something that fits a JSON schema, always the same: its own example, default or first allowed value, else the
 * simplest of its type.
 */
export function exampleInput(schema: unknown): unknown {
  if (!isObject(schema)) return {};
  const { examples, enum: allowed, type } = schema;
  if ("const" in schema) return schema.const;
  if ("default" in schema) return schema.default;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if (Array.isArray(allowed) && allowed.length > 0) return allowed[0] as unknown;
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) as unknown[] | undefined;
  if (choices && choices.length > 0) return exampleInput(choices[0]);
  return exampleOf(Array.isArray(type) ? (type[0] as unknown) : type, schema);
}

function exampleOf(type: unknown, schema: Record<string, unknown>): unknown {
  switch (type) {
    case "string":
      return "example";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return typeof schema.minItems === "number" && schema.minItems > 0 ? [exampleInput(schema.items)] : [];
    default:
      return exampleObject(schema);
  }
}

function exampleObject({ properties, required }: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(properties)) return {};
  const names = Array.isArray(required) ? required : [];
  const needed = Object.entries(properties).filter(([name]) => names.includes(name));
  return Object.fromEntries(needed.map(([name, each]) => [name, exampleInput(each)]));
}
