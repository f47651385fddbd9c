/**
 * Whether an event matches a rule's pattern: every field of the pattern is a list of what the event's may be, or a
 * pattern of its own. Knows exact values, `prefix`, `suffix`, `anything-but` and `exists`.
 */
export function matchesPattern(pattern: unknown, event: unknown): boolean {
  if (Array.isArray(pattern)) {
    const values: unknown[] = Array.isArray(event) ? event : [event];
    return pattern.some((allowed: unknown) => values.some((value) => matchesValue(allowed, value)));
  }
  if (!isObject(pattern))
    throw new Error("Event pattern is not valid. Reason: a field is a list or an object");
  return Object.entries(pattern).every(([name, each]) =>
    matchesPattern(each, isObject(event) ? event[name] : undefined),
  );
}

function matchesValue(allowed: unknown, value: unknown): boolean {
  if (!isObject(allowed)) return allowed === value;
  return Object.entries(allowed).every(([operator, operand]) => {
    switch (operator) {
      case "exists":
        return (value !== undefined) === operand;
      case "prefix":
        return typeof value === "string" && value.startsWith(String(operand));
      case "suffix":
        return typeof value === "string" && value.endsWith(String(operand));
      case "anything-but":
        return value !== undefined && !(Array.isArray(operand) ? operand : [operand]).includes(value);
      default:
        throw new Error(`Event pattern is not valid. Reason: the fake knows no ${operator}`);
    }
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
