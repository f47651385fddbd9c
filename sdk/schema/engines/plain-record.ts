import * as z from "zod/mini";

const MAX_DEPTH = 100;

/**
 * A record of such values that loses nothing: whoever copies an object drops a key `__proto__` without a word, so one
 * is refused, at any depth.
 */
export function plainRecord<V extends z.ZodMiniType>(values: V) {
  const given = z.unknown().check(
    // First: what holds itself is never walked to its end.
    z.refine((value) => !isDeep(value), { error: "is nested too deeply", abort: true }),
    z.refine((value) => !holdsProto(value), { error: "has a key __proto__, which is no name of a setting" }),
  );
  return z.pipe(given, z.record(z.string(), values));
}

function holdsProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some((each) => holdsProto(each));
}

function isDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth > MAX_DEPTH || Object.values(value).some((each) => isDeep(each, depth + 1));
}
