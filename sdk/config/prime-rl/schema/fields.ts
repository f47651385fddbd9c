import * as z from "zod";

/** The bounds of a number; `above` is exclusive. */
export interface Range {
  min?: number;
  max?: number;
  above?: number;
}

/** Metadata beside the help text; see `FieldMeta` in ../types.ts. */
interface Extra extends Range {
  aliases?: readonly string[];
  /** The value may be null although its default is not. */
  nullable?: true;
}

type Standard<T> = T | null | undefined;

/** `undefined` makes a field required, `null` nullable with null as default, anything else is the default. */
function finish<T>(
  base: z.ZodType<T>,
  help: string,
  standard: Standard<NoInfer<T>>,
  extra: { aliases?: readonly string[]; nullable?: true } = {},
): z.ZodType {
  const meta = { description: help, ...(extra.aliases && { aliases: extra.aliases }) };
  if (standard === undefined) return base.meta(meta);
  if (standard === null) return base.nullable().default(null).meta(meta);
  if (extra.nullable)
    return base
      .nullable()
      .default(standard as never)
      .meta(meta);
  return base.default(standard as never).meta(meta);
}

function bounded<S extends z.ZodNumber | z.ZodInt>(base: S, { min, max, above }: Range): S {
  let schema: z.ZodNumber = base;
  if (min !== undefined) schema = schema.min(min);
  if (above !== undefined) schema = schema.gt(above);
  if (max !== undefined) schema = schema.max(max);
  return schema as S;
}

/**
 * A whole number.
 * @example steps: int("How many steps to train.", null, { min: 1 })
 */
export function int(help: string, standard: number, extra?: Extra & { nullable?: never }): z.ZodType<number>;
export function int(help: string, standard: null, extra?: Extra): z.ZodType<number | null>;
export function int(help: string, standard?: undefined, extra?: Extra): z.ZodType<number>;
export function int(help: string, standard?: number | null, extra: Extra = {}): z.ZodType {
  return finish(bounded(z.int(), extra), help, standard, extra);
}

/** A finite number. With `nullable` the value may be null, and its default need not be. */
export function float(
  help: string,
  standard: number,
  extra: Extra & { nullable: true },
): z.ZodType<number | null>;
export function float(help: string, standard: number, extra?: Extra): z.ZodType<number>;
export function float(help: string, standard: null, extra?: Extra): z.ZodType<number | null>;
export function float(help: string, standard: number | null, extra: Extra = {}): z.ZodType {
  return finish(bounded(z.number(), extra), help, standard, extra);
}

export function bool(help: string, standard: boolean): z.ZodType<boolean>;
export function bool(help: string, standard: null): z.ZodType<boolean | null>;
/** Nullable, but on or off unless somebody says otherwise. */
export function bool(help: string, standard: boolean, extra: { nullable: true }): z.ZodType<boolean | null>;
export function bool(help: string, standard: boolean | null, extra: { nullable?: true } = {}): z.ZodType {
  return finish(z.boolean(), help, standard, extra);
}

export function text(help: string, standard: string): z.ZodType<string>;
export function text(help: string, standard: null): z.ZodType<string | null>;
export function text(help: string, standard?: undefined): z.ZodType<string>;
export function text(help: string, standard: string, extra: { nullable: true }): z.ZodType<string | null>;
export function text(help: string, standard?: string | null, extra: { nullable?: true } = {}): z.ZodType {
  return finish(z.string(), help, standard, extra);
}

/** A file or folder; `format` in its metadata says so. Relative ones belong to the working folder. */
export function path(help: string, standard: string): z.ZodType<string>;
export function path(help: string, standard: null): z.ZodType<string | null>;
export function path(help: string, standard?: undefined): z.ZodType<string>;
export function path(help: string, standard?: string | null): z.ZodType {
  return finish(z.string(), help, standard).meta({ description: help, format: "path" });
}

/** One of a few words. */
export function choice<const W extends string>(
  words: readonly [W, ...W[]],
  help: string,
  standard: NoInfer<W>,
): z.ZodType<W>;
export function choice<const W extends string>(
  words: readonly [W, ...W[]],
  help: string,
  standard: null,
): z.ZodType<W | null>;
export function choice<const W extends string>(
  words: readonly [W, ...W[]],
  help: string,
  standard: NoInfer<W> | null,
): z.ZodType {
  return finish(z.enum(words), help, standard);
}

export function list<T>(item: z.ZodType<T>, help: string, standard: NoInfer<T>[]): z.ZodType<T[]>;
export function list<T>(item: z.ZodType<T>, help: string, standard: null): z.ZodType<T[] | null>;
export function list<T>(item: z.ZodType<T>, help: string, standard: NoInfer<T>[] | null): z.ZodType {
  return finish(z.array(item), help, standard);
}

/** Free keys with values of one kind. */
export function dict<T>(
  value: z.ZodType<T>,
  help: string,
  standard: Record<string, NoInfer<T>> = {},
): z.ZodType<Record<string, T>> {
  return finish(z.record(z.string(), value), help, standard) as z.ZodType<Record<string, T>>;
}

/** Free keys, free values, as the environment or the engine takes them. */
export const freeDict = (help: string): z.ZodType<Record<string, unknown>> => dict(z.unknown(), help);

/** A table that is always there: all its fields have defaults. */
export function section<T>(schema: z.ZodType<T>, help: string): z.ZodType<T> {
  return schema.prefault({} as never).meta({ description: help });
}

/** A table that is off until it is named. */
export function off<T>(schema: z.ZodType<T>, help: string): z.ZodType<T | null> {
  return schema.nullable().default(null).meta({ description: help });
}

/** A table that is on until it is switched off. */
export function on<T>(schema: z.ZodType<T>, help: string): z.ZodType<T | null> {
  return schema
    .nullable()
    .prefault({} as never)
    .meta({ description: help });
}

/** A union of tables told apart by `tag`, with the variant that a table without the tag means. */
export function variants<const V extends readonly [z.ZodObject, ...z.ZodObject[]]>(
  tag: string,
  members: V,
  standard: string,
  help: string,
): z.ZodType<z.output<V[number]>> {
  const union = z.discriminatedUnion(tag, members as never) as unknown as z.ZodType<z.output<V[number]>>;
  const first = { [tag]: standard } as never;
  return union.prefault(first).meta({ description: help, defaultVariant: standard });
}
