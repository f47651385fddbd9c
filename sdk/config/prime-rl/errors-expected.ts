import type * as z from "zod";
import { pathText } from "./provenance.ts";
import type { Path } from "./types.ts";
import type { ScalarShape, Shape } from "./walk.ts";

/** What is wrong with a value that is there, and what would be right. */
export function expectation(
  issue: z.core.$ZodIssue,
  path: Path,
  value: unknown,
  shape: Shape | undefined,
): { message: string; hint: string } {
  const name = path.length === 0 ? "The configuration" : pathText(path);
  const got = shown(value);
  const bound = boundOf(issue);
  if (bound !== undefined) {
    return { message: `${name} has to be ${bound}, not ${got}.`, hint: `Give it a value that is ${bound}.` };
  }
  const wanted = shape ? noun(shape) : "something else";
  return { message: `${name} has to be ${wanted}, not ${got}.`, hint: hintFor(value, shape) };
}

function boundOf(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "too_small" && issue.code !== "too_big") return undefined;
  const [word, limit] =
    issue.code === "too_small"
      ? (["at least", issue.minimum] as const)
      : (["at most", issue.maximum] as const);
  const strict = issue.code === "too_small" ? "greater than" : "less than";
  const size = issue.inclusive === false ? `${strict} ${limit}` : `${word} ${limit}`;
  if (issue.origin === "array") return `a list of ${size} entries`;
  return issue.origin === "string" ? `a text of ${size} characters` : size;
}

/** What a shape is, in a sentence: `a whole number`, `one of "full", "selective"`. */
export function noun(shape: Shape): string {
  switch (shape.kind) {
    case "section":
    case "union":
      return "a table";
    case "list":
      return `a list${shape.item.kind === "open" ? "" : ` whose entries are each ${noun(shape.item)}`}`;
    case "dict":
      return `a table${shape.value.kind === "open" ? "" : ` whose values are each ${noun(shape.value)}`}`;
    case "choice":
      return shape.options.map(noun).join(" or ");
    case "open":
      return "anything";
    case "scalar":
      return scalarNoun(shape.type, shape.values);
  }
}

function scalarNoun(type: string, values: readonly unknown[]): string {
  if (type === "literal") {
    const all = values.map((value) => JSON.stringify(value)).join(", ");
    return values.length === 1 ? all : `one of ${all}`;
  }
  return (
    { string: "a text", integer: "a whole number", number: "a number", boolean: "true or false" }[type] ??
    type
  );
}

function hintFor(value: unknown, shape: Shape | undefined): string {
  if (value === null) return "It cannot be switched off.";
  const isPlain = typeof value === "number" || typeof value === "boolean";
  if (shape?.kind === "scalar")
    return isPlain && shape.type === "string" ? `Put it in quotes: "${value}".` : SCALARS[shape.type];
  if (shape?.kind === "list")
    return "Put it in brackets; a list of tables is written [[so]], once for each entry.";
  if (shape?.kind === "choice") return "Take one of these.";
  return "Give it a table, or JSON in a flag.";
}

const SCALARS: Record<ScalarShape["type"], string> = {
  string: "Put it in quotes.",
  integer: "Write it without a fraction, such as 8.",
  number: "Write it such as 0.5 or 1e-5.",
  boolean: "Write it without quotes.",
  literal: "Take one of these.",
};

/** A value in a message: short, and on one line. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a table";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
