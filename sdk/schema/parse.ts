import * as z from "zod/mini";
import { SpotterError, type SpotterErrorParams } from "./errors.ts";
import type { ErrorCode } from "./error-codes.ts";
import { DESCRIBED, describeIssue, type Finding } from "./describe-issue.ts";

export { nearestName } from "./nearest-name.ts";
export type { Finding };

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
  const result = z.safeParse(schema, value, DESCRIBED);
  if (result.success) return result.data;
  const findings = result.error.issues.flatMap((issue) =>
    describeIssue(issue, (path) => keysAt(schema, path)),
  );
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
  while (current?.def?.innerType) current = current.def.innerType;
  return current;
}
