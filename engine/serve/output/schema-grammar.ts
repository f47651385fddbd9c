import { maybe, separated, type GrammarNode } from "../../onnx/sample/constraint/grammar.ts";
import { objectOf, SPACE } from "../../onnx/sample/constraint/json-grammar.ts";
import { integerGrammar, numberGrammar } from "./number-grammar.ts";
import { isTooDeep } from "../too-deep.ts";
import { invalidSchema, unsupportedSchema } from "./schema-error.ts";

/** A JSON schema, or a part of one. */
export type Schema = Record<string, unknown>;

/** Keywords that say something about a value and change none. */
const ANNOTATIONS = [
  "title",
  "description",
  "default",
  "examples",
  "format",
  "deprecated",
  "readOnly",
  "writeOnly",
];
const IDENTITY = ["$schema", "$id", "$comment", "$defs", "definitions"];
const SHAPES: Record<string, readonly string[]> = {
  object: ["properties", "required", "additionalProperties", "propertyNames"],
  array: ["items", "minItems", "maxItems"],
  string: ["minLength", "maxLength"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  boolean: [],
  null: [],
};
/** Every count costs a place to remember. */
const MOST_COUNTED = 1024;
/** Deeper ones, and longer, are no answer's shape. */
const LONGEST_PATH = 2000;
export const MOST_BYTES = 64 * 1024;
const MOST_REFERENCES = 200;
/** Of all ranges together. */
const MOST_INTEGERS = 20_000;

/**
 * Writes a JSON schema as a grammar whose texts are all valid under it. Members come in the order of
 * `properties`; others than those do not come at all.
 *
 * Known: `type` (also a list), `enum`, `const`, `anyOf`, `$ref` into `$defs`, `properties`, `required`,
 * `additionalProperties`, `items`, `minItems`, `maxItems`, `minLength`, `maxLength`, and the bounds of numbers
 * that {@link integerGrammar} knows.
 */
export class SchemaGrammar {
  /** Rules that the nodes refer to. */
  readonly rules: Record<string, GrammarNode> = {};
  /** Of the schema, as JSON. */
  readonly bytes: number;
  readonly #root: Schema;
  readonly #path: string;
  /** Keeps the rules of several schemas apart. */
  readonly #prefix: string;
  #ids = 0;
  /** References that are being followed, each within the one before. */
  #depth = 0;
  /** Integers written out so far. */
  #integers = 0;
  /** Rules under way of which nothing was read yet. */
  #open = new Set<string>();

  /** `path`: where the schema stands in the request. */
  constructor(root: unknown, path: string, prefix: string) {
    this.#path = path;
    this.#prefix = prefix;
    this.#root = asSchema(root, path);
    if (isTooDeep(root)) throw unsupportedSchema(path, "is nested too deeply");
    this.bytes = JSON.stringify(root).length;
    if (this.bytes > MOST_BYTES) throw unsupportedSchema(path, `has more than ${MOST_BYTES} bytes`);
  }

  /** @throws RequestError naming the keyword that is not known. */
  node(): GrammarNode {
    return this.#node(this.#root, this.#path);
  }

  #node(given: unknown, path: string): GrammarNode {
    if (given === true) return { rule: "value" };
    if (path.length > LONGEST_PATH) throw unsupportedSchema(this.#path, "is nested too deeply");
    const schema = asSchema(given, path);
    const { $ref: reference, anyOf, enum: values, type } = schema;
    if (reference !== undefined) return this.#reference(schema, path);
    if (values !== undefined || "const" in schema) return literals(schema, path);
    if (anyOf !== undefined) {
      refuseOthers(schema, ["anyOf"], path);
      const options = asList(anyOf, `${path}.anyOf`);
      return { oneOf: options.map((option, at) => this.#node(option, `${path}.anyOf[${at}]`)) };
    }
    if (Array.isArray(type)) {
      return {
        oneOf: asList(type, `${path}.type`).map((each) => this.#typed({ ...schema, type: each }, path, type)),
      };
    }
    return this.#typed(schema, path, type === undefined ? [] : [type]);
  }

  /** `types`: all that the schema names, whose keywords it may have. */
  #typed(schema: Schema, path: string, types: readonly unknown[]): GrammarNode {
    const { type } = schema;
    if (type === undefined) {
      refuseOthers(schema, [], path);
      return { rule: "value" };
    }
    if (typeof type !== "string" || !Object.hasOwn(SHAPES, type))
      throw invalidSchema(`${path}.type`, "is no type of JSON");
    refuseOthers(
      schema,
      ["type", ...types.flatMap((each) => (typeof each === "string" && SHAPES[each]) || [])],
      path,
    );
    switch (type) {
      case "object":
        return this.#object(schema, path);
      case "array":
        return this.#array(schema, path);
      case "string":
        return text(schema, path);
      case "integer":
        return this.#integer(schema, path);
      case "number":
        return numberGrammar(schema, path);
      case "boolean":
        return { oneOf: [{ text: "true" }, { text: "false" }] };
      default:
        return { text: "null" };
    }
  }

  #integer(schema: Schema, path: string): GrammarNode {
    const node = integerGrammar(schema, path);
    if ("oneOf" in node) this.#integers += node.oneOf.length;
    if (this.#integers <= MOST_INTEGERS) return node;
    throw unsupportedSchema(path, `and what comes before have more than ${MOST_INTEGERS} integers in ranges`);
  }

  #reference(schema: Schema, path: string): GrammarNode {
    refuseOthers(schema, ["$ref"], path);
    const reference = schema["$ref"];
    const [, place = "", name = ""] =
      /^#\/(\$defs|definitions)\/([^/]+)$/.exec(typeof reference === "string" ? reference : "") ?? [];
    const definitions = this.#root[place];
    if (!isSchema(definitions) || !Object.hasOwn(definitions, name))
      throw unsupportedSchema(`${path}.$ref`, "must name one of the schema's own $defs");
    const rule = `${this.#prefix}${place}/${name}`;
    if (this.#open.has(rule)) throw invalidSchema(`${path}.$ref`, "leads back to itself");
    if (!(rule in this.rules)) {
      // First, for it may hold itself.
      this.rules[rule] = { oneOf: [] };
      this.#open.add(rule);
      if (++this.#depth > MOST_REFERENCES)
        throw unsupportedSchema(`${path}.$ref`, "leads through too many others");
      this.rules[rule] = this.#node(definitions[name], `${this.#path}.${place}.${name}`);
      this.#depth--;
      this.#open.delete(rule);
    }
    return { rule };
  }

  /** A part of a value: it may be what the value itself is. */
  #part(given: unknown, path: string): GrammarNode {
    const open = this.#open;
    this.#open = new Set();
    const node = this.#node(given, path);
    this.#open = open;
    return node;
  }

  #object(schema: Schema, path: string): GrammarNode {
    const { properties, required, additionalProperties: others, propertyNames } = schema;
    if (propertyNames !== undefined && JSON.stringify(propertyNames) !== '{"type":"string"}') {
      throw unsupportedSchema(`${path}.propertyNames`, "is not supported");
    }
    const members = Object.entries(
      properties === undefined ? {} : asSchema(properties, `${path}.properties`),
    );
    const names = new Set(required === undefined ? [] : asList(required, `${path}.required`));
    const keys = new Set<unknown>(members.map(([key]) => key));
    const unknown = [...names].find((name) => !keys.has(name));
    if (unknown !== undefined) {
      throw unsupportedSchema(
        `${path}.required`,
        `names ${JSON.stringify(unknown)}, which is not in 'properties'`,
      );
    }
    if (properties === undefined && others !== false) {
      return objectOf({ rule: "string" }, this.#part(others ?? true, `${path}.additionalProperties`));
    }
    const nodes = members.map(([key, value]) => ({
      isRequired: names.has(key),
      node: this.#rule({
        all: [
          { text: JSON.stringify(key) },
          SPACE,
          { text: ":" },
          SPACE,
          this.#part(value, `${path}.properties.${key}`),
          SPACE,
        ],
      }),
    }));
    return { all: [{ text: "{" }, SPACE, this.#members(nodes), { text: "}" }] };
  }

  /** Members in order, with a comma before each but the first that is there. */
  #members(members: readonly { node: GrammarNode; isRequired: boolean }[]): GrammarNode {
    let first: GrammarNode = { text: "" };
    let later: GrammarNode = { text: "" };
    for (const { node, isRequired } of members.toReversed()) {
      const begins = { all: [node, later] };
      first = this.#rule(isRequired ? begins : { oneOf: [begins, first] });
      const goesOn = { all: [{ text: "," }, SPACE, node] };
      later = this.#rule({ all: [isRequired ? goesOn : maybe(goesOn), later] });
    }
    return first;
  }

  #array({ items, minItems, maxItems }: Schema, path: string): GrammarNode {
    const item = this.#rule({ all: [this.#part(items ?? true, `${path}.items`), SPACE] });
    const least = countOf(minItems, `${path}.minItems`) ?? 0;
    const most = countOf(maxItems, `${path}.maxItems`);
    const comma: GrammarNode = { all: [{ text: "," }, SPACE] };
    if (most !== undefined && most < least)
      throw invalidSchema(`${path}.maxItems`, "is less than 'minItems'");
    if (most === 0) return { all: [{ text: "[" }, SPACE, { text: "]" }] };
    const further = { all: [comma, item] };
    const rest = {
      many: further,
      atLeast: Math.max(least - 1, 0),
      ...(most === undefined ? {} : { atMost: most - 1 }),
    };
    const filled: GrammarNode =
      least === 0 && most === undefined ? separated(item, comma) : { all: [item, rest] };
    return { all: [{ text: "[" }, SPACE, least === 0 ? maybe(filled) : filled, { text: "]" }] };
  }

  #rule(node: GrammarNode): GrammarNode {
    const rule = `${this.#prefix}${this.#ids++}`;
    this.rules[rule] = node;
    return { rule };
  }
}

/** Only what is counted in whole characters has a length; escapes by number are left out of it. */
function text({ minLength, maxLength }: Schema, path: string): GrammarNode {
  const least = countOf(minLength, `${path}.minLength`) ?? 0;
  const most = countOf(maxLength, `${path}.maxLength`);
  if (least === 0 && most === undefined) return { rule: "string" };
  if (most !== undefined && most < least)
    throw invalidSchema(`${path}.maxLength`, "is less than 'minLength'");
  const letter = { rule: "plain-letter" };
  const letters = { many: letter, atLeast: least, ...(most === undefined ? {} : { atMost: most }) };
  return { all: [{ text: '"' }, letters, { text: '"' }] };
}

function literals(schema: Schema, path: string): GrammarNode {
  refuseOthers(schema, ["enum", "const", "type"], path);
  if ("const" in schema) return { text: JSON.stringify(schema["const"]) };
  const values = asList(schema["enum"], `${path}.enum`);
  return { oneOf: values.map((value) => ({ text: JSON.stringify(value) })) };
}

function countOf(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw invalidSchema(path, "is no count");
  if (value > MOST_COUNTED) throw unsupportedSchema(path, `is more than ${MOST_COUNTED}`);
  return value;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown, path: string): Schema {
  if (isSchema(value)) return value;
  throw value === false ? unsupportedSchema(path, "is false") : invalidSchema(path, "is no object");
}

function asList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && (value.length > 0 || path.endsWith("required"))) return value;
  throw invalidSchema(path, "is no list of something");
}

function refuseOthers(schema: Schema, known: readonly string[], path: string): void {
  for (const key in schema) {
    if (known.includes(key) || ANNOTATIONS.includes(key) || IDENTITY.includes(key)) continue;
    throw unsupportedSchema(`${path}.${key}`, "is not supported");
  }
}
