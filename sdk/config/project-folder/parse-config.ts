import * as z from "zod/mini";
import { DESCRIBED, describeIssue, tightest } from "../../schema/describe-issue.ts";
import { nearestName } from "../../schema/nearest-name.ts";
import { coerced, isPlainObject } from "./coerce.ts";
import { MAX_OF_A_KIND } from "./collector.ts";
import type { ConfigDocument } from "./config-document.ts";
import { DATASET_TYPES, INTERNAL_KEYS, projectConfig, type ProjectConfig } from "./config-schema.ts";
import type { Path, Remark } from "./finding.ts";
import { LEGACY_KEYS, SYNONYMS } from "./legacy-keys.ts";
import { ConfigView } from "./config-view.ts";
import { allPaths, keysOf, nodeAt, schemaNode } from "./schema-node.ts";

export interface ParsedConfig {
  /** Values one at a time, for rules that must work where others do not fit. */
  view: ConfigView;
  /** With defaults; absent while a key is missing or does not fit. */
  config?: ProjectConfig;
  remarks: Remark[];
}

/** What to write, by what zod calls it. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section: keys and values below it",
};

const root = schemaNode(projectConfig);
const known = allPaths(root).map((path) => path.join("."));

/** Checks every key, its type and its bounds, and fills in defaults. All that is wrong is told at once. */
export function parseConfig(document: ConfigDocument): ParsedConfig {
  const { value } = document;
  if (value === undefined) return { view: new ConfigView({}, []), remarks: [] };
  if (!isPlainObject(value)) {
    const what = value === null ? "is empty" : "holds no keys";
    const hint = "Begin with `dataset_type: rl`; `spotter init` writes a whole project.";
    const remark: Remark = { code: "config_syntax", path: [], message: what, hint };
    return { view: new ConfigView({}, []), remarks: [remark] };
  }
  const remarks: Remark[] = [];
  const raw = coerced(root, value, remarks) as Record<string, unknown>;
  const result = z.safeParse(projectConfig, raw, DESCRIBED);
  if (result.success) return { config: result.data, view: new ConfigView(raw, []), remarks };
  const told = new Set(remarks.map(({ path }) => JSON.stringify(path)));
  for (const issue of tightest(result.error.issues)) {
    for (const remark of remarksOf(issue)) if (!told.has(JSON.stringify(remark.path))) remarks.push(remark);
  }
  // An unknown key hides nothing of the rest.
  const cleaned = z.safeParse(projectConfig, withoutUnknown(raw, result.error.issues));
  const view = new ConfigView(
    raw,
    cleaned.success ? [] : cleaned.error.issues.map(({ path }) => path as Path),
  );
  return { ...(cleaned.success && { config: cleaned.data }), view, remarks };
}

function remarksOf(issue: z.core.$ZodIssue): Remark[] {
  const path = issue.path as (string | number)[];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key, index) => unknownKey([...path, key], index < MAX_OF_A_KIND));
  const [described] = describeIssue(issue, () => []);
  const message = described?.message ?? "is not valid";
  const isMissing = issue.code === "invalid_type" && issue.input === undefined;
  if (isMissing || (issue.code === "invalid_value" && issue.input === undefined)) return [missing(path)];
  return [{ code: codeOf(issue), path, message, hint: hintFor(issue, path) }];
}

function codeOf(issue: z.core.$ZodIssue): "wrong_type" | "not_one_of" | "out_of_range" {
  if (issue.code === "invalid_value") return "not_one_of";
  return issue.code === "too_small" || issue.code === "too_big" ? "out_of_range" : "wrong_type";
}

function missing(path: Path): Remark {
  const key = path.join(".");
  const examples: Record<string, string> = {
    dataset_type: `Write dataset_type: one of ${DATASET_TYPES.join(", ")}.`,
    data: "Write a section data with batch_size.",
    "data.batch_size": "Write batch_size: 4 (1 to 32 prompts a step).",
    model: "Write a section model with path: Qwen/Qwen3-8B.",
    "model.path": "Write path: Qwen/Qwen3-8B, or another model.",
    trainer: "Write a section trainer with num_epochs.",
    "trainer.num_epochs": "Write num_epochs: 3, or however often the rows are learnt from.",
    "teacher.path": "Write path: Qwen/Qwen3-32B, or another larger model.",
  };
  const hint = examples[key] ?? `Write ${path.at(-1)}.`;
  return { code: "missing_key", path, message: "is missing", hint };
}

function hintFor(issue: z.core.$ZodIssue, path: Path): string {
  if (issue.code === "invalid_value" && typeof issue.input === "string") {
    const near = nearestName(issue.input, issue.values.map(String));
    return near ? `Did you mean ${near}?` : `Write ${issue.values.map(String).join(", or ")}.`;
  }
  const key = path.join(".");
  if (key === "data.val_split") return "It is the share of rows held out: 0.1 is a tenth; below 1.";
  if (key === "trainer.learning_rate") return "Usual rates lie between 0.00001 and 0.001.";
  if (issue.code === "too_small" || issue.code === "too_big") return "Choose a value within the bounds.";
  if (issue.code === "invalid_type" && issue.input === null)
    return path.length === 1
      ? "Write what belongs in it."
      : "Remove the line for its default, or give a value.";
  return issue.code === "invalid_type"
    ? `Write ${EXPECTED[issue.expected] ?? "another value"}.`
    : "Correct it.";
}

/**
 * A key that nobody reads: an older name, one from elsewhere, a slip of the pen, or none of them. Names like it are
 * not sought where nobody will see them: thousands of keys would take seconds.
 */
export function unknownKey(path: readonly (string | number)[], isShown = true): Remark {
  const key = String(path.at(-1));
  const dotted = path.filter((step) => typeof step === "string").join(".");
  if ((INTERNAL_KEYS as readonly string[]).includes(key)) {
    const message = "is internal: it would decide which weights are trained without anybody checking them";
    return {
      code: "internal_key",
      path,
      atKey: true,
      message,
      hint: "Remove it; name the model in model.path.",
    };
  }
  const legacy = Object.hasOwn(LEGACY_KEYS, dotted) ? LEGACY_KEYS[dotted] : undefined;
  if (legacy) {
    const message = legacy.now ? `is an older name of ${legacy.now}` : "is no longer read";
    return { code: "legacy_key", path, atKey: true, message, hint: legacy.hint };
  }
  const meant = isShown ? meantBy(path, key) : undefined;
  const section = path.slice(0, -1);
  const siblings = keysOf(nodeAt(root, section));
  const hint = meant ? `Did you mean ${meant}?` : `Known here: ${siblings.join(", ")}.`;
  return { code: "unknown_key", path, atKey: true, message: "is a key that nobody reads", hint };
}

function meantBy(path: readonly (string | number)[], key: string): string | undefined {
  const section = path.slice(0, -1);
  const prefix = section.filter((step) => typeof step === "string").join(".");
  const sibling = nearestName(key, keysOf(nodeAt(root, section)));
  if (sibling) return prefix ? `${prefix}.${sibling}` : sibling;
  const elsewhere = known.filter((each) => each.split(".").at(-1) === key);
  if (elsewhere.length > 0) return elsewhere[0];
  const word = key.toLowerCase().replaceAll(/[-_]/g, "");
  if (Object.hasOwn(SYNONYMS, word)) return SYNONYMS[word];
  const name = nearestName(
    key,
    known.map((each) => each.split(".").at(-1) ?? each),
  );
  return known.find((each) => each.split(".").at(-1) === name);
}

function withoutUnknown(raw: Record<string, unknown>, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy = structuredClone(raw);
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    let at: unknown = copy;
    for (const step of issue.path) at = (at as Record<PropertyKey, unknown> | undefined)?.[step];
    for (const key of issue.keys) if (isPlainObject(at)) delete at[key];
  }
  return copy;
}
