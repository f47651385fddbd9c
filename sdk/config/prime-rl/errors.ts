/**
 * What a schema refuses, as findings: where it was said, what would be right, and what may have been meant.
 *
 * @module
 */
import type * as z from "zod";
import { meant } from "./errors-meant.ts";
import { expectation } from "./errors-expected.ts";
import { flagText, originAround, pathText, type Origins } from "./provenance.ts";
import type { Finding, Origin, Path, Report } from "./types.ts";
import { below, isTable, rootOf, sectionsIn, type SectionShape, type Shape } from "./walk.ts";

/** A report at its place. */
export function findingOf(report: Report, origin: Origin | undefined): Finding {
  return {
    code: report.code ?? "invalid_input",
    severity: report.severity ?? "error",
    path: pathText(report.path),
    message: report.message,
    hint: report.hint ?? "",
    file: origin?.file ?? null,
    line: origin?.line ?? null,
    column: origin?.column ?? null,
  };
}

/** All that a schema refuses of a tree, as reports. */
export function refusals(error: z.core.$ZodError, tree: unknown, schema: z.core.$ZodType): Report[] {
  const root = rootOf(schema);
  return error.issues.flatMap((issue) => refusal(issue, [], tree, root));
}

function refusal(issue: z.core.$ZodIssue, around: Path, tree: unknown, root: SectionShape): Report[] {
  const path = [...around, ...(issue.path as Path)];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownKey([...path, key], root, tree));
  if (issue.code === "invalid_union") {
    const tagged = shapeAt(root, path.slice(0, -1), tree);
    if (tagged && isUnmatched(issue)) return [unmatchedTag(path, tagged, tree)];
    const inner = closest(issue, valueAt(tree, path));
    if (inner) return inner.flatMap((each) => refusal(each, path, tree, root));
  }
  const value = valueAt(tree, path);
  const shape = shapeAt(root, path, tree);
  if (issue.code === "custom")
    return [{ path, message: issue.message, hint: hintOf(issue) ?? "See --help for what may stand there." }];
  if (value === undefined && isMissing(issue)) return [missing(path, shape)];
  return [{ path, ...expectation(issue, path, value, shape) }];
}

/** A check of a schema's own may know the remedy. */
function hintOf({ params }: z.core.$ZodIssueCustom): string | undefined {
  const hint: unknown = params?.hint;
  return typeof hint === "string" ? hint : undefined;
}

/** Of several ways to read a value, the one that came furthest: it went into the value. */
function closest(issue: z.core.$ZodIssueInvalidUnion, value: unknown): z.core.$ZodIssue[] | undefined {
  if (!isTable(value)) return undefined;
  return issue.errors.find(
    (issues) =>
      issues.length > 0 && issues.every((each) => each.path.length > 0 || each.code === "unrecognized_keys"),
  );
}

/** No variant of a union has that tag; the path of the issue is the tag's. */
function isUnmatched(issue: z.core.$ZodIssueInvalidUnion): boolean {
  return issue.discriminator !== undefined && issue.path.at(-1) === issue.discriminator;
}

function unmatchedTag(at: Path, shape: Shape, tree: unknown): Report {
  const path = at.slice(0, -1);
  const tag = valueAt(tree, at);
  const name = String(at.at(-1));
  const union = sectionsIn(shape);
  const tags = union?.kind === "union" ? [...union.variants.keys()].map((each) => JSON.stringify(each)) : [];
  return {
    path,
    at,
    message:
      tag === undefined
        ? `${pathText(path)} needs a ${name}.`
        : `${pathText(path)} has no ${name} ${JSON.stringify(tag)}.`,
    hint: `Set ${pathText(at)} to one of ${tags.join(", ")}.`,
  };
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" || issue.code === "invalid_value" || issue.code === "invalid_union";
}

function missing(path: Path, shape: Shape | undefined): Report {
  const isSection = shape?.kind === "section" || shape?.kind === "union";
  const name = pathText(path);
  return {
    path,
    message: `${name} is missing.`,
    hint: isSection
      ? `Add the table [${name}] to a file, and name the file: @ file.toml.`
      : `Set ${name} in a file, or ${flagText(path)} VALUE.`,
  };
}

function unknownKey(path: Path, root: SectionShape, tree: unknown): Report {
  const near = meant(path, root, tree);
  return {
    path,
    code: "unknown_key",
    message: `There is no setting ${pathText(path)}.`,
    hint: near ? `Did you mean ${pathText(near)} (${flagText(near)})?` : "See --help for all settings.",
  };
}

function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (held, step) => (held as Record<string | number, unknown> | null | undefined)?.[step],
    tree,
  );
}

export function shapeAt(root: SectionShape, path: Path, tree: unknown): Shape | undefined {
  let shape: Shape | undefined = root;
  let value = tree;
  for (const step of path) {
    shape = shape && below(shape, step, value);
    value = valueAt(value, [step]);
  }
  return shape;
}

/** Where to look for what a report is about. */
export function placeOf(report: Report, origins: Origins): Origin | undefined {
  return originAround(origins, report.at ?? report.path);
}
