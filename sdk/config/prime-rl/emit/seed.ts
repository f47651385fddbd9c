/**
 * The pinned version whose names are ours (b02169f19): TOML that it reads to the same tree.
 *
 * @module
 */
import type { EntrypointName } from "../entrypoints.ts";
import { pathText } from "../provenance.ts";
import type { Path, Report } from "../types.ts";
import { isTable } from "../walk.ts";
import type { EmittedFile } from "./dry-run.ts";
import { tomlOf, type TomlWatch } from "./toml.ts";
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
  const files = [{ name: `${name}.toml`, text: tomlOf(name, config, watchInto(reports)) }];
  if (name !== "rl") return { files, reports };
  for (const part of ["trainer", "orchestrator", "inference"] as const) {
    const inner = config[part];
    if (!isTable(inner)) continue;
    const kept = Object.entries(inner).filter(([key]) => part !== "inference" || !OF_THE_LAUNCHER.has(key));
    const text = tomlOf(part, Object.fromEntries(kept), watchInto([]));
    files.push({ name: `${part}.toml`, text });
  }
  return { files, reports };
}

function watchInto(reports: Report[]): TomlWatch {
  return {
    onNull: (path) => reports.push(report(path, "TOML has no null, so it is left out.")),
    onTexts: (path, table) => {
      for (const [key, text] of Object.entries(table))
        if (isRetyped(text))
          reports.push(
            report([...path, key], `the pinned version reads the text "${text}" as another type.`),
          );
    },
  };
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
