import * as z from "zod/mini";
import { SpotterError, type SpotterErrorParams } from "./errors.ts";
import type { ErrorCode } from "./error-codes.ts";

export interface Finding {
  path: string;
  message: string;
}

/**
 * Checks a value against a schema and returns it with defaults filled in. Throws one error that lists every
 * finding with its key path; unknown keys name the nearest known one.
 */
export function parseWith<S extends z.ZodMiniType>(
  schema: S,
  value: unknown,
  what: string,
  params: SpotterErrorParams & { code?: ErrorCode } = {},
): z.infer<S> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const findings = result.error.issues.flatMap((issue) => describe(issue, schema));
  const list = findings.map((finding) => `  ${finding.path || "(top level)"}: ${finding.message}`).join("\n");
  const allUnknown = result.error.issues.every((issue) => issue.code === "unrecognized_keys");
  throw new SpotterError(
    params.code ?? (allUnknown ? "unknown_key" : "invalid_input"),
    `${what} is not valid:\n${list}`,
    {
      ...params,
      where: params.where ?? findings[0]?.path,
      hint: params.hint ?? "Correct the keys named above.",
    },
  );
}

/** The name of `candidates` that is fewest edits away, if it is close enough to be what was meant. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const scored = candidates
    .map((candidate) => ({ candidate, edits: editDistance(fold(name), fold(candidate)) }))
    .sort((a, b) => a.edits - b.edits)[0];
  return scored && scored.edits <= Math.max(1, Math.floor(name.length / 3)) ? scored.candidate : undefined;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

function describe(issue: z.core.$ZodIssue, schema: z.ZodMiniType): Finding[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(schema, issue.path);
    return issue.keys.map((key) => {
      const near = nearestName(key, known);
      return {
        path: [path, key].filter(Boolean).join("."),
        message: near
          ? `unknown key; did you mean "${near}"?`
          : `unknown key; known keys: ${known.join(", ")}`,
      };
    });
  }
  if (issue.code === "invalid_type") {
    const got = issue.input === undefined ? "missing" : `is ${typeName(issue.input)}`;
    return [
      {
        path,
        message:
          issue.input === undefined
            ? `${got}, expected ${issue.expected}`
            : `${got}, expected ${issue.expected}`,
      },
    ];
  }
  if (issue.code === "invalid_value")
    return [{ path, message: `must be one of ${issue.values.map((v) => JSON.stringify(v)).join(", ")}` }];
  return [{ path, message: issue.message }];
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value)
    ? "an array"
    : typeof value === "number" && Number.isNaN(value)
      ? "NaN"
      : `a ${typeof value}`;
}

/** The keys of the object schema at a path; empty where the path leads through a union or a record. */
function keysAt(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  let current: unknown = schema;
  for (const step of path) current = childSchema(unwrap(current), step);
  const node = unwrap(current) as
    { shape?: Record<string, unknown>; def?: { options?: unknown[] } } | undefined;
  const shapes = [node, ...((node?.def?.options ?? []) as { shape?: Record<string, unknown> }[])];
  return [...new Set(shapes.flatMap((each) => Object.keys(each?.shape ?? {})))];
}

function childSchema(schema: unknown, step: PropertyKey): unknown {
  const node = schema as
    { shape?: Record<PropertyKey, unknown>; def?: { element?: unknown; valueType?: unknown } } | undefined;
  return node?.shape?.[step] ?? node?.def?.element ?? node?.def?.valueType;
}

function unwrap(schema: unknown): unknown {
  let current = schema as { def?: { innerType?: unknown } } | undefined;
  while (current?.def?.innerType) current = current.def.innerType as typeof current;
  return current;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
