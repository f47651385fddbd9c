/**
 * The models that the SDK packages ship, made readable: a schema object is a tuple, a reference to one is a
 * function, a number or a pair with traits.
 */

/** What a member is on the wire. */
export type Shape =
  | { kind: "string" | "number" | "boolean" | "timestamp" | "blob" | "document"; traits: Traits }
  | { kind: "list"; member: Member; traits: Traits }
  | { kind: "map"; value: Member; traits: Traits }
  | { kind: "structure"; name: string; members: Map<string, Member>; required: string[]; traits: Traits };

export type Traits = Record<string, unknown>;

/** A member is resolved when it is asked for, because shapes may contain themselves. */
export type Member = () => Shape;

export interface Operation {
  name: string;
  traits: Traits;
  input: Shape;
  output: Shape;
}

const simple: Record<number, "string" | "number" | "boolean" | "timestamp" | "blob" | "document"> = {
  0: "string",
  1: "number",
  2: "boolean",
  4: "timestamp",
  5: "timestamp",
  6: "timestamp",
  7: "timestamp",
  15: "document",
  17: "number",
  19: "number",
  21: "blob",
  42: "blob",
};

const listModifier = 64;
const mapModifier = 128;
const anonymous = (value: number): unknown[] => [0, "", "", 0, value];

/** The boolean traits in the order of their bits. */
const traitBits = [
  "httpLabel",
  "idempotent",
  "idempotencyToken",
  "sensitive",
  "httpPayload",
  "httpResponseCode",
  "httpQueryParams",
];

/** Traits are an object, or a bit field of the boolean ones. */
function traitsOf(raw: unknown): Traits {
  if (typeof raw === "object" && raw !== null) return raw as Traits;
  if (typeof raw !== "number") return {};
  return Object.fromEntries(traitBits.filter((_, bit) => ((raw >> bit) & 1) === 1).map((name) => [name, 1]));
}

export function shapeOf(reference: unknown, outer: Traits = {}): Shape {
  if (typeof reference === "function") return shapeOf((reference as () => unknown)(), outer);
  if (typeof reference === "number") return ofNumber(reference, outer);
  if (reference === "unit")
    return { kind: "structure", name: "Unit", members: new Map(), required: [], traits: outer };
  if (!Array.isArray(reference)) throw new Error(`not a schema: ${String(reference)}`);
  const parts = reference as unknown[];
  // A pair is a reference with the traits of the member that holds it.
  if (parts.length === 2) return shapeOf(parts[0], { ...traitsOf(parts[1]), ...outer });
  const traits = { ...traitsOf(parts[3]), ...outer };
  switch (parts[0]) {
    case 0:
      return shapeOf(parts[4], traits);
    case 1:
      return { kind: "list", member: () => shapeOf(parts[4]), traits };
    case 2:
      return { kind: "map", value: () => shapeOf(parts[5]), traits };
    default:
      return structure(parts, traits);
  }
}

function ofNumber(value: number, traits: Traits): Shape {
  if (value === 15) return { kind: "document", traits };
  if ((value & mapModifier) !== 0) {
    return { kind: "map", value: () => shapeOf(anonymous(value - mapModifier)), traits };
  }
  if ((value & listModifier) !== 0) {
    return { kind: "list", member: () => shapeOf(anonymous(value - listModifier)), traits };
  }
  const kind = simple[value];
  if (kind === undefined) throw new Error(`unknown simple schema ${value}`);
  return { kind, traits };
}

function structure(parts: unknown[], traits: Traits): Shape {
  const [, , name, , names, references, required] = parts as [
    number,
    string,
    string,
    unknown,
    string[],
    unknown[],
    number?,
  ];
  const members = new Map(names.map((each, index) => [each, () => shapeOf(references[index])]));
  return { kind: "structure", name, members, required: names.slice(0, required ?? 0), traits };
}

const cache = new Map<unknown, Operation>();

/** The operation that an SDK package exports as `NAME$`. */
export function operationOf(models: object, name: string): Operation | undefined {
  return operationFrom((models as Record<string, unknown>)[`${name}$`]);
}

/** An operation's own tuple, as commands carry it in `schema`. */
export function operationFrom(raw: unknown): Operation | undefined {
  if (!Array.isArray(raw) || raw[0] !== 9) return undefined;
  const known = cache.get(raw);
  if (known !== undefined) return known;
  const operation: Operation = {
    name: String(raw[2]),
    traits: traitsOf(raw[3]),
    input: shapeOf(raw[4]),
    output: shapeOf(raw[5]),
  };
  cache.set(raw, operation);
  return operation;
}
