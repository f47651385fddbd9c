import { type Finding, hasErrors } from "./finding.ts";
import { readProject, type ReadProjectParams } from "./project.ts";

export interface Validation {
  /** Whether nothing but warnings was found. */
  ok: boolean;
  findings: Finding[];
}

/**
 * Checks a project folder, offline and whole: everything that is wrong is told at once.
 *
 * @example
 * const { ok, findings } = await validateProject("my-project");
 */
export async function validateProject(dir: string, params: ReadProjectParams = {}): Promise<Validation> {
  const { findings } = await readProject(dir, params);
  return { ok: !hasErrors(findings), findings };
}
