/**
 * Something that fits a JSON schema: its own constant, default or example, else the simplest of its type. Always the
 * same; where a schema leaves a choice (allowed words, whole numbers between two bounds, yes or no), `pick` makes it.
 *
 * @param pick given how many there are, which of them, from 0. Default: the first
 * @example
 * exampleValue({ type: "object", properties: { score: { enum: [0, 1] } }, required: ["score"] }); // { score: 0 }
 */
export function exampleValue(schema: unknown, pick: (count: number) => number = () => 0): unknown {
  if (!isObject(schema)) return {};
  const { examples, enum: allowed, type } = schema;
  if ("const" in schema) return schema.const;
  if ("default" in schema) return schema.default;
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if (Array.isArray(allowed) && allowed.length > 0) return allowed[pick(allowed.length)] as unknown;
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) as unknown[] | undefined;
  if (choices && choices.length > 0) return exampleValue(choices[pick(choices.length)], pick);
  return exampleOf(Array.isArray(type) ? (type[0] as unknown) : type, schema, pick);
}

function exampleOf(type: unknown, schema: Record<string, unknown>, pick: (count: number) => number): unknown {
  const { minimum, maximum, minItems, items } = schema;
  switch (type) {
    case "string":
      return "example";
    case "integer":
    case "number": {
      if (typeof minimum !== "number") return 1;
      const count = typeof maximum === "number" ? Math.floor(maximum - minimum) + 1 : 1;
      return minimum + pick(Math.max(1, count));
    }
    case "boolean":
      return pick(2) === 0;
    case "null":
      return null;
    case "array":
      return Array.from({ length: typeof minItems === "number" ? minItems : 0 }, () =>
        exampleValue(items, pick),
      );
    default:
      return exampleObject(schema, pick);
  }
}

function exampleObject(
  { properties, required }: Record<string, unknown>,
  pick: (count: number) => number,
): Record<string, unknown> {
  if (!isObject(properties)) return {};
  const names = Array.isArray(required) ? required : [];
  const needed = Object.entries(properties).filter(([name]) => names.includes(name));
  return Object.fromEntries(needed.map(([name, each]) => [name, exampleValue(each, pick)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
