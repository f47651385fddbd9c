import type * as z from "zod/mini";
import { nearestName } from "./nearest-name.ts";
import { typeName } from "./type-name.ts";

export interface Finding {
  path: string;
  message: string;
}

/** zod/mini's text for everything that has no message of its own: it ships no language. */
const NO_MESSAGE = "Invalid input";

/**
 * How to parse what {@link describeIssue} is to describe. Whoever imports all of zod beside this has set its texts
 * for everybody: without this they would take the place of ours.
 *
 * @example z.safeParse(schema, value, DESCRIBED)
 */
export const DESCRIBED = { reportInput: true, error: () => NO_MESSAGE } as const;

/**
 * Of several upper bounds, or lower ones, that one value breaks, only the tightest: that a whole number has bounds of its
 * own helps nobody who is told the key's.
 */
export function tightest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const isBeaten = (issue: z.core.$ZodIssue) =>
    issues.some((other) => {
      if (other.path.join() !== issue.path.join()) return false;
      if (issue.code === "too_big") return other.code === "too_big" && other.maximum < issue.maximum;
      return issue.code === "too_small" && other.code === "too_small" && other.minimum > issue.minimum;
    });
  return issues.filter((issue) => !isBeaten(issue));
}

/** What is wrong, in words. `keysAt` tells the known keys of the object at a path. */
export function describeIssue(
  issue: z.core.$ZodIssue,
  keysAt: (path: readonly PropertyKey[]) => string[],
): Finding[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...issue.path.map(String), key].join("."),
      message: unknownKey(key, keysAt(issue.path)),
    }));
  }
  return [{ path, message: issue.message === NO_MESSAGE ? wordsFor(issue) : issue.message }];
}

function unknownKey(key: string, known: string[]): string {
  const near = nearestName(key, known);
  return near ? `unknown key; did you mean "${near}"?` : `unknown key; known keys: ${known.join(", ")}`;
}

function wordsFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type": {
      if (issue.input === undefined) return `missing, expected ${issue.expected}`;
      if (issue.expected === "int") return `must be a whole number, is ${Number(issue.input)}`;
      return `is ${typeName(issue.input)}, expected ${issue.expected}`;
    }
    case "invalid_value":
      return `must be ${oneOf(issue.values)}${butIs(issue.input)}`;
    case "too_small":
      return `must ${bound(issue.origin, issue.inclusive ? "at least" : "more than", issue.minimum)}${butIs(issue.input)}`;
    case "too_big":
      return `must ${bound(issue.origin, issue.inclusive ? "at most" : "less than", issue.maximum)}${butIs(issue.input)}`;
    case "invalid_format":
      return `does not match ${issue.pattern ?? issue.format}${butIs(issue.input)}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}${butIs(issue.input)}`;
    case "invalid_union":
      return unionWords(issue);
    default:
      return "is not valid";
  }
}

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === "string") return `have ${relation} ${limit} characters`;
  if (origin === "array" || origin === "set") return `have ${relation} ${limit} items`;
  return `be ${relation} ${limit}`;
}

function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  // A discriminated union: the path already leads to the key that decides, the input is the object around it.
  const { options, discriminator } = issue as { options?: unknown; discriminator?: string };
  if (Array.isArray(options) && discriminator !== undefined) {
    return `must be ${oneOf(options)}${butIs((issue.input as Record<string, unknown> | undefined)?.[discriminator])}`;
  }
  const expected = issue.errors.flatMap((errors) =>
    errors.flatMap((each) => (each.code === "invalid_type" && each.path.length === 0 ? [each.expected] : [])),
  );
  if (issue.input === undefined)
    return `missing${expected.length > 0 ? `, expected ${expected.join(" or ")}` : ""}`;
  const isExpected = expected.length > 0 ? `, expected ${[...new Set(expected)].join(" or ")}` : "";
  return `is ${typeName(issue.input)} that fits no known form${isExpected}`;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? String(texts[0]) : `one of ${texts.join(", ")}`;
}

/** The value itself where it is short enough to help. */
function butIs(input: unknown): string {
  if (input === undefined) return "; it is missing";
  const text = typeof input === "object" ? undefined : JSON.stringify(input);
  return text !== undefined && text.length <= 60 ? `, is ${text}` : `, is ${typeName(input)}`;
}
