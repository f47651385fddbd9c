import { resolve } from "node:path";
import type { ProjectConfig } from "../config-schema.ts";
import { formatted, ProjectDataset } from "../project-dataset.ts";
import type { Project } from "../project.ts";
import type { Entry } from "./player.ts";
import { selectEntries, type Selection } from "./select-entries.ts";

/**
 * The rows that a selection means, in its order, with their variables filled in. The file is read once; of all rows
 * none is kept.
 */
export async function* entriesOf(
  project: Project & { config: ProjectConfig },
  selection: Selection,
): AsyncGenerator<Entry> {
  const kind = project.config.dataset_type;
  const path = resolve(project.folder, project.trainFile);
  const rows = new ProjectDataset({ path, kind }).rows();
  const isAll = "all" in selection;
  const chosen = isAll ? [] : selectEntries(selection, project.rows.rows);
  const wanted = new Set(chosen);
  const found = new Map<number, Entry>();
  let index = 0;
  for await (const row of rows) {
    if (isAll) yield { index, row: formatted(row, kind) };
    else if (wanted.has(index)) found.set(index, { index, row: formatted(row, kind) });
    index++;
    if (!isAll && found.size === wanted.size) break;
  }
  if (isAll) return;
  for (const each of chosen) {
    const entry = found.get(each);
    if (entry) yield entry;
  }
}
