import type { ProjectRun, ResolvedProject } from "../config/project-folder/resolve-project.ts";
import { type CliContext, print } from "./context.ts";

/** The folder gets its id with its first run or eval; without one its runs have nothing in common. */
export async function fillId(
  context: CliContext,
  project: NonNullable<ResolvedProject["project"]>,
  runs: readonly ProjectRun[],
  options: { write: boolean; json?: boolean },
): Promise<void> {
  const { config, document, folder } = project;
  if (config.project_id || !options.write || !document) return;
  const { fillProjectId } = await import("../config/project-folder/project-id.ts");
  const { tagsOf } = await import("../config/project-folder/plan.ts");
  const id = fillProjectId(folder, document.file);
  if (id === undefined) {
    context.err.write(
      `${document.file} could not be given a project_id; write one to find its runs together.\n`,
    );
    return;
  }
  for (const { plan } of runs) plan.spec.tags = tagsOf({ ...config, project_id: id });
  if (!options.json) print(context, `project_id ${id} is written into ${document.file}.`);
}
