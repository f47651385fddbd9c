import { existsSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { dryRunFiles } from "../../config/prime-rl/emit/dry-run.ts";
import type { EntrypointName } from "../../config/prime-rl/entrypoints.ts";
import { findingOf } from "../../config/prime-rl/errors.ts";
import { makeFolder, outputError } from "../../config/prime-rl/output-folder.ts";
import type { Finding } from "../../config/prime-rl/types.ts";

export interface Written {
  /** As one can type them from here. */
  files: string[];
  findings: Finding[];
}

/**
 * Writes the files of a dry run under the output folder of the configuration, and nothing anywhere else. Nothing is
 * deleted: a file that an earlier dry run left and this one has no use for is a warning.
 */
export function writeDryRun(name: EntrypointName, config: Record<string, unknown>, cwd: string): Written {
  const { files, reports } = dryRunFiles(name, config);
  if (reports.length > 0)
    return { files: [], findings: reports.map((report) => findingOf(report, undefined)) };
  const folder = join(typeof config.output_dir === "string" ? config.output_dir : "outputs", "configs");
  for (const { name: file, text } of files) write(resolve(cwd, folder, file), text, folder);
  return {
    files: files.map((file) => join(folder, file.name)),
    findings: leftovers(name, new Set(files.map((file) => file.name)), folder, cwd),
  };
}

/** Whole or not at all: a process may be reading the old one. */
function write(path: string, text: string, folder: string): void {
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    makeFolder(dirname(path));
    writeFileSync(fresh, text);
    renameSync(fresh, path);
  } catch (error) {
    throw outputError("The dry run", folder, error);
  }
}

function leftovers(
  name: EntrypointName,
  written: ReadonlySet<string>,
  folder: string,
  cwd: string,
): Finding[] {
  const file = "inference.toml";
  if (name !== "rl" || written.has(file) || !existsSync(resolve(cwd, folder, file))) return [];
  const report = {
    path: ["inference"],
    severity: "warning" as const,
    message: `${join(folder, file)} is from an earlier run; this configuration has no inference.`,
    hint: "Remove it, or take another --output-dir.",
  };
  return [findingOf(report, undefined)];
}
