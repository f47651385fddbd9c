/**
 * The mark that `reward`, `tool` and `environment` leave on what they return. A registered symbol, so that
 * definitions made by another copy of this package are found too.
 */
const mark = Symbol.for("spotter.user-code");

/** Of one row or call. The same bound as in the run spec, which is too large to be in every bundle. */
const MAX_TIMEOUT_MS = 3_600_000;

export interface Definition {
  kind: "reward" | "tool" | "environment";
  weight?: number;
  precondition?: boolean;
  timeoutMs?: number;
  description?: string;
  /** Of a tool: JSON Schema of its input. */
  parameters?: Record<string, unknown>;
}

/** Attaches the definition; the value stays what it was, so rewards and tools can be called in tests. */
export function define<T extends object>(value: T, definition: Definition): T {
  Object.defineProperty(value, mark, { value: Object.freeze(definition) });
  return value;
}

export function definitionOf(value: unknown): Definition | undefined {
  if (typeof value !== "function" && (typeof value !== "object" || value === null)) return undefined;
  return (value as Record<symbol, unknown>)[mark] as Definition | undefined;
}

/**
 * Options as users write them: unknown keys and wrong types are one TypeError that lists them all. Written by
 * hand, because this code is part of every bundle and a schema library would be ten times its size.
 */
export function checkOptions(
  what: string,
  options: unknown,
  types: Record<string, (value: unknown) => string | undefined>,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const order = typeof options === "function" ? `; they come first: ${what}({ ... }, function)` : "";
    throw new TypeError(`${what}: options must be an object, for example { weight: 0.5 }${order}`);
  }
  const findings = Object.entries(options).flatMap(([key, value]) => {
    const check = Object.hasOwn(types, key) ? types[key] : undefined;
    if (!check) return [`unknown option "${key}" (known: ${Object.keys(types).join(", ")})`];
    const finding = value === undefined ? undefined : check(value);
    return finding ? [`${key} ${finding}`] : [];
  });
  if (findings.length > 0) throw new TypeError(`${what}: ${findings.join("; ")}`);
}

export const must = {
  beFinite: (value: unknown) => (Number.isFinite(value) ? undefined : "must be a finite number"),
  bePositive: (value: unknown) =>
    Number.isFinite(value) && Number(value) > 0 ? undefined : "must be a number above 0",
  beTimeoutMs: (value: unknown) =>
    Number.isFinite(value) && Number(value) > 0 && Number(value) <= MAX_TIMEOUT_MS
      ? undefined
      : `must be a number above 0 and at most ${MAX_TIMEOUT_MS} (an hour)`,
  beBoolean: (value: unknown) => (typeof value === "boolean" ? undefined : "must be true or false"),
  beText: (value: unknown) => (typeof value === "string" ? undefined : "must be text"),
  beFunction: (value: unknown) => (typeof value === "function" ? undefined : "must be a function"),
};
