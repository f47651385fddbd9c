/** What JSON cannot hold, and where. */
export interface JsonFault {
  /** Keys down to it, joined by dots; only the first ones where there are many. */
  path: string;
  why: string;
  /** NaN and infinities: JSON makes null of them. */
  isNumber: boolean;
}

/** Deeper values meet the limits of the stack, here or where they are read. */
const MAX_DEPTH = 500;
const MAX_KEYS = 6;

/** The first value that JSON cannot hold: a BigInt, a number that is not finite, a circle, nesting without end. */
export function jsonFault(
  value: unknown,
  keys: readonly string[] = [],
  above: readonly object[] = [],
): JsonFault | undefined {
  if (typeof value === "bigint") return fault(keys, "is a BigInt");
  if (typeof value === "number" && !Number.isFinite(value)) return fault(keys, `is ${value}`, true);
  if (typeof value !== "object" || value === null) return undefined;
  // Says itself what it is as JSON, as dates do.
  if ("toJSON" in value) return undefined;
  if (above.includes(value)) return fault(keys, "refers back to what it is part of");
  if (above.length >= MAX_DEPTH) return fault(keys, `is nested more than ${MAX_DEPTH} deep`);
  const path = [...above, value];
  for (const [key, each] of Object.entries(value)) {
    const found = jsonFault(each, [...keys.slice(0, MAX_KEYS), key], path);
    if (found) return found;
  }
  return undefined;
}

function fault(keys: readonly string[], why: string, isNumber = false): JsonFault {
  return { path: keys.slice(0, MAX_KEYS).join("."), why, isNumber };
}
