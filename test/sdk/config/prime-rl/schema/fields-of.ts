import * as z from "zod";

/** A field as the fixtures write it, without the names of upstream's classes. */
export interface Row {
  path: string;
  type: string;
  default: unknown;
  bounds: string;
  aliases: string;
  help: string;
}

type Def = z.core.$ZodTypes["_zod"]["def"];
const REQUIRED = "REQUIRED";

interface Unwrapped {
  inner: z.core.$ZodType;
  isNullable: boolean;
  default: unknown;
  meta: Record<string, unknown>;
}

function unwrap(schema: z.core.$ZodType): Unwrapped {
  const found: Unwrapped = { inner: schema, isNullable: false, default: REQUIRED, meta: {} };
  for (;;) {
    found.meta = { ...z.globalRegistry.get(found.inner), ...found.meta };
    const def = (found.inner as z.core.$ZodTypes)._zod.def;
    if (def.type === "default" || def.type === "prefault") found.default = def.defaultValue;
    else if (def.type === "nullable") found.isNullable = true;
    else return found;
    found.inner = def.innerType;
  }
}

const defOf = (schema: z.core.$ZodType): Def => (schema as z.core.$ZodTypes)._zod.def;

/** Every field below an object, in the fixtures' notation: `optim<adamw>.lr`. */
export function fieldsOf(schema: z.core.$ZodType, prefix = ""): Row[] {
  const def = defOf(unwrap(schema).inner);
  if (def.type !== "object") throw new Error(`${prefix} is no object`);
  return Object.entries(def.shape).flatMap(([name, field]) => {
    const path = prefix + name;
    return [rowOf(path, field), ...below(path, field)];
  });
}

function rowOf(path: string, field: z.core.$ZodType): Row {
  const { inner, isNullable, default: standard, meta } = unwrap(field);
  const def = defOf(inner);
  const type = meta["format"] === "path" ? "Path" : typeOf(inner);
  // The tag of a variant is its own default: a table that names the variant has said it.
  const tag = def.type === "literal" && standard === REQUIRED ? def.values[0] : standard;
  return {
    path,
    type: isNullable ? `${type}|None` : type,
    default: type.startsWith("section") && standard !== REQUIRED && standard !== null ? "section" : tag,
    bounds: boundsOf(inner),
    aliases: ((meta["aliases"] as string[] | undefined) ?? []).join(","),
    help: (meta["description"] as string | undefined) ?? "",
  };
}

function typeOf(schema: z.core.$ZodType): string {
  const def = defOf(unwrap(schema).inner);
  switch (def.type) {
    case "object":
      return "section";
    case "union": {
      const options = [...new Set(def.options.map(typeOf))];
      return options.includes("str") && options.includes("dict[str,Any]")
        ? "dict[str,Any]|str"
        : options.join("|");
    }
    case "array":
      return `list[${typeOf(def.element)}]`;
    case "record":
      return `dict[str,${typeOf(def.valueType)}]`;
    case "literal":
      return def.values.map((value) => `'${String(value)}'`).join("|");
    case "enum":
      return Object.values(def.entries)
        .map((value) => `'${value}'`)
        .join("|");
    case "number":
      return isInteger(unwrap(schema).inner) ? "int" : "float";
    case "boolean":
      return "bool";
    case "string":
      return "str";
    case "unknown":
      return "Any";
    default:
      throw new Error(`no notation for ${def.type}`);
  }
}

const isInteger = (schema: z.core.$ZodType) => (schema as unknown as { isInt?: boolean }).isInt === true;

function boundsOf(schema: z.core.$ZodType): string {
  const { checks } = defOf(schema) as { checks?: z.core.$ZodCheck[] };
  return (checks ?? [])
    .map((check) => check._zod.def as { check: string; value?: unknown; inclusive?: boolean })
    .filter(({ check, value }) => /_than$/.test(check) && Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER)
    .map(({ check, value, inclusive }) => {
      const sign = check === "greater_than" ? "g" : "l";
      return `${sign}${inclusive ? "e" : "t"}=${String(value)}`;
    })
    .join(",");
}

function below(path: string, field: z.core.$ZodType): Row[] {
  const { inner } = unwrap(field);
  const def = defOf(inner);
  if (def.type === "object") return fieldsOf(inner, `${path}.`);
  if (def.type === "array") return below(path, def.element);
  if (def.type !== "union") return [];
  if (!("discriminator" in def)) return def.options.flatMap((option) => below(path, option));
  const tag = String(def.discriminator);
  return def.options.flatMap((option) => {
    const shape = (defOf(option) as z.core.$ZodObjectDef).shape;
    const values = defOf(unwrap(shape[tag] as z.core.$ZodType).inner);
    const name =
      values.type === "literal" ? values.values[0] : Object.values((values as z.core.$ZodEnumDef).entries)[0];
    return fieldsOf(option, `${path}<${String(name)}>.`);
  });
}
