import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { makeFolder } from "../../schema/files/make-folder.ts";
import { SpotterError } from "../../schema/errors.ts";
import { nearestName } from "../../schema/nearest-name.ts";
import { displayable } from "./plan.ts";
import { TEMPLATES } from "./templates/index.ts";

export interface InitParams {
  /** Default: the first of {@link TEMPLATES}. */
  template?: string | undefined;
  /** What the project is called. Default: the folder's name. */
  name?: string | undefined;
}

/**
 * Writes a project into a folder. Nothing is overwritten: where one of its files exists, nothing at all is written.
 * Resolves to the names of the files.
 *
 * @throws SpotterError `conflict`, naming every file that is there; `not_found` for an unknown template.
 * @example
 * await initProject("my-project", { template: "math" });
 */
export async function initProject(dir: string, params: InitParams = {}): Promise<string[]> {
  const folder = resolve(dir);
  const { template: name = Object.keys(TEMPLATES)[0] ?? "", name: title } = params;
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (!template) throw noTemplate(name);
  const files = template.files(displayable(title ?? basename(folder)) ?? "My project");
  const taken = Object.keys(files).filter((file) => existsSync(join(folder, file)));
  if (taken.length > 0) throw conflict(folder, taken);
  await makeFolder(folder).catch((error: unknown) => {
    throw unwritable(folder, error);
  });
  for (const [file, text] of Object.entries(files)) {
    try {
      // Fails where somebody else has written it meanwhile.
      await writeFile(join(folder, file), text, { flag: "wx" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw conflict(folder, [file]);
      throw unwritable(folder, error);
    }
  }
  return Object.keys(files);
}

function unwritable(folder: string, cause: unknown): SpotterError {
  const what = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new SpotterError("invalid_input", `Cannot write into ${folder}: ${what}.`, {
    where: folder,
    hint: "Name a folder of your own with -d.",
    cause,
  });
}

function noTemplate(name: string): SpotterError {
  const known = Object.keys(TEMPLATES);
  const near = nearestName(name, known);
  return new SpotterError("not_found", `There is no template "${name}".`, {
    where: "template",
    hint: near ? `Did you mean ${near}?` : `There are: ${known.join(", ")}.`,
  });
}

function conflict(folder: string, files: readonly string[]): SpotterError {
  const verb = files.length === 1 ? "exists" : "exist";
  return new SpotterError("conflict", `${files.join(", ")} ${verb} in ${folder}; nothing is overwritten.`, {
    where: folder,
    hint: "Name an empty folder with -d.",
  });
}
