/**
 * The files that a dry run leaves: what each process would read, whole, so that each resolves to itself.
 *
 * @module
 */
import type { EntrypointName } from "../entrypoints.ts";
import type { Path, Report } from "../types.ts";
import { fieldIn, isTable, restIn, sectionsIn, type Shape } from "../walk.ts";
import { tomlOf } from "./toml.ts";

export interface EmittedFile {
  /** Below `configs/`. */
  name: string;
  text: string;
}

/** The processes that `rl` starts, which read a file of their own. */
const PARTS: readonly EntrypointName[] = ["trainer", "orchestrator", "inference"];

/**
 * The files for a resolved tree: for `rl` one for itself and one for each of its processes, else one.
 *
 * @returns What TOML cannot hold, in `reports`: then there are no files.
 * @example
 * dryRunFiles("rl", config).files.map(({ name }) => name);
 * // ["rl.toml", "trainer.toml", "orchestrator.toml", "inference.toml"]
 */
export function dryRunFiles(
  name: EntrypointName,
  config: Record<string, unknown>,
): { files: EmittedFile[]; reports: Report[] } {
  const reports: Report[] = [];
  const files = [fileOf(name, config, reports)];
  for (const part of name === "rl" ? PARTS : []) {
    const inner = config[part];
    // Their findings are those of the whole.
    if (isTable(inner)) files.push(fileOf(part, inner, []));
  }
  return { files: reports.length > 0 ? [] : files, reports };
}

function fileOf(name: EntrypointName, config: Record<string, unknown>, reports: Report[]): EmittedFile {
  const text = tomlOf(name, config, { onNull: (path) => reports.push(noNull(path)) });
  return { name: `${name}.toml`, text };
}

/** TOML has no null: where a setting stands, the text "None" means it. */
export function withoutNulls(value: unknown, shape: Shape, path: Path, reports: Report[]): unknown {
  if (Array.isArray(value)) {
    const item = listItem(shape);
    return value.map((each, index) => withoutNulls(each, item, [...path, index], reports));
  }
  if (value === null) reports.push(noNull(path));
  if (!isTable(value)) return value;
  const sections = sectionsIn(shape);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const field = sections && fieldIn(sections, key, value);
      if (field && each === null) return [key, "None"];
      const inner = field?.shape ?? (sections && restIn(sections, value)) ?? dictValue(shape);
      return [key, withoutNulls(each, inner, [...path, key], reports)];
    }),
  );
}

const OPEN: Shape = { kind: "open" };

function listItem(shape: Shape): Shape {
  const list = shape.kind === "choice" ? shape.options.find(({ kind }) => kind === "list") : shape;
  return list?.kind === "list" ? list.item : OPEN;
}

function dictValue(shape: Shape): Shape {
  const dict = shape.kind === "choice" ? shape.options.find(({ kind }) => kind === "dict") : shape;
  return dict?.kind === "dict" ? dict.value : OPEN;
}

function noNull(path: Path): Report {
  return {
    path,
    message: "A free table or list in TOML cannot hold null, so the files of a dry run cannot hold this.",
    hint: "Leave the entry out.",
  };
}
