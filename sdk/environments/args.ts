/**
 * Reads what a configuration hands to an environment's `load`: unknown keys and wrong types are one error that names
 * them all.
 *
 * @module
 */
type Kind = "count" | "number" | "text" | "texts" | "flag";
type Value<K extends Kind> = K extends "count" | "number"
  ? number
  : K extends "text"
    ? string
    : K extends "texts"
      ? string[]
      : boolean;

const checks: Record<Kind, { is: (value: unknown) => boolean; expected: string }> = {
  count: { is: (value) => Number.isInteger(value) && Number(value) >= 1, expected: "a whole number above 0" },
  number: { is: (value) => Number.isFinite(value), expected: "a number" },
  text: { is: (value) => typeof value === "string", expected: "a text" },
  texts: {
    is: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
    expected: "a list of texts",
  },
  flag: { is: (value) => typeof value === "boolean", expected: "true or false" },
};

/** @throws TypeError listing every key that is unknown or has the wrong type. */
export function readArgs<const Kinds extends Record<string, Kind>>(
  what: string,
  args: Record<string, unknown>,
  kinds: Kinds,
): { [K in keyof Kinds]?: Value<Kinds[K]> } {
  const known = Object.keys(kinds);
  const faults = Object.entries(args).flatMap(([key, value]) => {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind === undefined) return [`unknown key "${key}" (known: ${known.join(", ")})`];
    const { is, expected } = checks[kind];
    return value === null || is(value) ? [] : [`${key} must be ${expected}`];
  });
  if (faults.length > 0) throw new TypeError(`args of ${what}: ${faults.join("; ")}`);
  const given = Object.entries(args).filter(([, value]) => value !== null);
  return Object.fromEntries(given) as { [K in keyof Kinds]?: Value<Kinds[K]> };
}
