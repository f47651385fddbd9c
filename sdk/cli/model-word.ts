import { resolve } from "node:path";

/**
 * A model as the command line means it: a relative path counts from where the command runs, as every other path of a
 * command does. In the files of a project it counts from the project.
 *
 * @example
 * modelWord("./my-model"); // "/home/ana/my-model"
 */
export function modelWord<T extends string | undefined>(name: T, cwd = process.cwd()): T | string {
  return name !== undefined && /^\.{1,2}(?:\/|$)/.test(name) ? resolve(cwd, name) : name;
}
