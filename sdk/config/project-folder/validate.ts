import { resolve } from "node:path";
import { CATALOGUE } from "./catalogue.ts";
import { checkConfig } from "./check-config.ts";
import { readConfigFile } from "./config-file.ts";
import { type Finding, hasErrors, inReadingOrder } from "./finding.ts";

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
export async function validateProject(dir: string): Promise<Validation> {
  const folder = resolve(dir);
  const { document, findings } = await readConfigFile(folder);
  if (document) findings.push(...checkConfig(document, folder, CATALOGUE).findings);
  return { ok: !hasErrors(findings), findings: inReadingOrder(findings, [document?.file ?? ""]) };
}
