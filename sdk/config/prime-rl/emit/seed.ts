/**
 * The pinned version whose names are ours (b02169f19): TOML that it reads to the same tree, although it knows no
 * null in TOML, retypes free tables of texts, and takes a shared default beside another value for a contradiction.
 *
 * @module
 */
import { stringify } from "smol-toml";
import { ENTRYPOINTS, type EntrypointName } from "../entrypoints.ts";
import { pathText } from "../provenance.ts";
import type { Path, Report } from "../types.ts";
import { fieldIn, isTable, restIn, rootOf, sectionsIn, type Field, type Shape } from "../walk.ts";
import type { EmittedFile } from "./dry-run.ts";
import type { Table } from "./tree.ts";

/** What the launcher reads, and the servers it starts do not. */
const OF_THE_LAUNCHER = new Set(["deployment", "slurm", "output_dir", "dry_run"]);

/**
 * The files for the pinned version: for `rl` one for the launcher and one for each process.
 *
 * @returns What it would read differently, in `reports`.
 * @example
 * seedFiles("rl", config).files.map(({ name }) => name);
 * // ["rl.toml", "trainer.toml", "orchestrator.toml", "inference.toml"]
 */
export function seedFiles(name: EntrypointName, config: Table): { files: EmittedFile[]; reports: Report[] } {
  const reports: Report[] = [];
  const files = [fileOf(name, name === "rl" ? withoutContradictions(config) : config, reports)];
  if (name !== "rl") return { files, reports };
  for (const part of ["trainer", "orchestrator", "inference"] as const) {
    const inner = config[part];
    if (!isTable(inner)) continue;
    const kept = Object.entries(inner).filter(([key]) => part !== "inference" || !OF_THE_LAUNCHER.has(key));
    files.push(fileOf(part, Object.fromEntries(kept), []));
  }
  return { files, reports };
}

function fileOf(name: EntrypointName, config: Table, reports: Report[]): EmittedFile {
  const { dry_run: _, ...rest } = config;
  const tree = written(rest, rootOf(ENTRYPOINTS[name].schema), [], reports);
  return { name: `${name}.toml`, text: stringify(tree) };
}

/** Components say it themselves by now. */
function withoutContradictions(config: Table): Table {
  const { log, wandb, ...rest } = config;
  const { json_logging: _, ...logRest } = isTable(log) ? log : {};
  const { offline: __, ...wandbRest } = isTable(wandb) ? wandb : {};
  return { ...rest, log: logRest, wandb: isTable(wandb) ? wandbRest : null };
}

/** Whether null has to be said: where something else stands for what is left out, or is inherited. */
function isSaid(field: Field | undefined, path: Path): boolean {
  const isInherited = path.at(-1) === "sampling" && typeof path.at(-2) === "number";
  return field !== undefined && (field.default !== null || isInherited);
}

/** Leaves nulls out where that means null, and writes "None" where it means something else. */
function written(value: unknown, shape: Shape | undefined, path: Path, reports: Report[]): unknown {
  if (Array.isArray(value)) {
    const item = shape?.kind === "list" ? shape.item : undefined;
    return value.map((each, index) => written(each, item, [...path, index], reports));
  }
  if (!isTable(value)) return value;
  const sections = shape && sectionsIn(shape);
  if (!sections) return free(value, shape, path, reports);
  const entries = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const field = fieldIn(sections, key, value);
    if (each === null) return isSaid(field, path) ? [[key, "None"]] : [];
    const inner = field?.shape ?? restIn(sections, value);
    return [[key, written(each, inner, [...path, key], reports)]];
  });
  return Object.fromEntries(entries);
}

function free(table: Table, shape: Shape | undefined, path: Path, reports: Report[]): Table {
  const entries = Object.entries(table).filter(([, each]) => each !== null);
  if (entries.length < Object.keys(table).length)
    reports.push(report(path, "TOML has no null, so its null entries are left out."));
  const isOpen = shape?.kind === "dict" && shape.value.kind === "open";
  if (isOpen && entries.length > 0 && entries.every(([, each]) => typeof each === "string"))
    for (const [key, each] of entries)
      if (isRetyped(String(each)))
        reports.push(
          report([...path, key], `the pinned version reads the text "${String(each)}" as another type.`),
        );
  return Object.fromEntries(
    entries.map(([key, each]) => [key, written(each, undefined, [...path, key], reports)]),
  );
}

/** Where all values of a free table are texts, that version makes numbers and switches of those that look it. */
function isRetyped(text: string): boolean {
  return /^(true|false)$/i.test(text) || /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text);
}

function report(path: Path, why: string): Report {
  return {
    path,
    code: "setting_dropped",
    severity: "warning",
    message: `${pathText(path)}: ${why}`,
    hint: "",
  };
}
