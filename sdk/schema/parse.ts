import * as z from "zod/mini";
import { SpotterError, type SpotterErrorParams } from "./errors.ts";
import type { ErrorCode } from "./error-codes.ts";
import { DESCRIBED, describeIssue, tightest, type Finding } from "./describe-issue.ts";

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
  const findings = tightest(result.error.issues).flatMap((issue) =>
    describeIssue(issue, (path) => keysAt(schema, path, value)),
  );
  const list = findings.map((finding) => `  ${finding.path || "(top level)"}: ${finding.message}`).join("\n");
  const allUnknown = result.error.issues.every((issue) => issue.code === "unrecognized_keys");
  throw new SpotterError(
    params.code ?? (allUnknown ? "unknown_key" : "invalid_input"),
    `${what} is not valid:\n${list}`,
    {
      ...params,
      where: params.where ?? (findings[0]?.path || undefined),
      hint: params.hint ?? "Correct the keys named above.",
    },
  );
}

interface ObjectNode {
  shape?: Record<string, unknown>;
  def?: { options?: ObjectNode[]; discriminator?: string };
}

/**
 * The keys of the object schema at a path: of a choice of objects those of the one that `value` chose, where it says
 * so, else all; empty where the path leads through a choice or a record.
 */
function keysAt(schema: z.ZodMiniType, path: readonly PropertyKey[], value: unknown): string[] {
  let current: unknown = schema;
  let at: unknown = value;
  for (const step of path) {
    current = childSchema(unwrap(current), step);
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[step] : undefined;
  }
  const node = unwrap(current) as ObjectNode | undefined;
  const shapes = [node, ...chosen(node?.def ?? {}, at)];
  return [...new Set(shapes.flatMap((each) => Object.keys(each?.shape ?? {})))];
}

function chosen({ options = [], discriminator }: NonNullable<ObjectNode["def"]>, at: unknown): ObjectNode[] {
  if (discriminator === undefined || typeof at !== "object" || at === null) return options;
  const word = (at as Record<string, unknown>)[discriminator];
  const own = options.filter(({ shape }) => {
    const { def } = (shape?.[discriminator] ?? {}) as { def?: { values?: unknown[] } };
    return def?.values?.includes(word) === true;
  });
  return own.length > 0 ? own : options;
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
