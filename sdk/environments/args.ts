/**
 * Reads what a configuration hands to an environment's `load`: unknown keys and wrong types are one error that names
 * them all.
 *
 * @module
 */
import { ARG_KINDS, type ArgKind, type BundledEnvironment } from "./arg-kinds.ts";

type Value<K extends ArgKind> = K extends "count" | "number"
  ? number
  : K extends "text"
    ? string
    : K extends "texts"
      ? string[]
      : boolean;

type ArgsOf<Name extends BundledEnvironment> = {
  [Key in keyof (typeof ARG_KINDS)[Name]]?: (typeof ARG_KINDS)[Name][Key] extends ArgKind
    ? Value<(typeof ARG_KINDS)[Name][Key]>
    : never;
};

const checks: Record<ArgKind, { is: (value: unknown) => boolean; expected: string }> = {
  count: { is: (value) => Number.isInteger(value) && Number(value) >= 1, expected: "a whole number above 0" },
  number: { is: (value) => Number.isFinite(value), expected: "a number" },
  text: { is: (value) => typeof value === "string", expected: "a text" },
  texts: {
    is: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
    expected: "a list of texts",
  },
  flag: { is: (value) => typeof value === "boolean", expected: "true or false" },
};

/** Something that is wrong with one of the args. */
export interface ArgFault {
  key: string;
  message: string;
  /** The keys there are. */
  known: readonly string[];
}

/** All that is wrong with the args of a bundled environment. `null` stands for an arg that is left out. */
export function argFaults(name: BundledEnvironment, args: Readonly<Record<string, unknown>>): ArgFault[] {
  const kinds: Readonly<Record<string, ArgKind>> = ARG_KINDS[name];
  const known = Object.keys(kinds);
  return Object.entries(args).flatMap(([key, value]): ArgFault[] => {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind === undefined)
      return [{ key, message: `unknown key "${key}" (known: ${known.join(", ")})`, known }];
    const { is, expected } = checks[kind];
    if (value === null || is(value)) return [];
    return [{ key, message: `${key} must be ${expected}`, known }];
  });
}

/** @throws TypeError listing every key that is unknown or has the wrong type. */
export function readArgs<Name extends BundledEnvironment>(
  name: Name,
  args: Record<string, unknown>,
): ArgsOf<Name> {
  const faults = argFaults(name, args);
  if (faults.length > 0)
    throw new TypeError(`args of ${name}: ${faults.map(({ message }) => message).join("; ")}`);
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) as ArgsOf<Name>;
}
