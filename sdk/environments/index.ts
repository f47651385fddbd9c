/**
 * Environments that come with Spotter, by the names that configurations use. An owner before the name and a version
 * behind it are left out: `primeintellect/wordle@0.1.0` is `wordle`.
 *
 * @module
 */
import { extname } from "node:path";

/** Id, and the export of the file of that name. */
const BUILT_IN: Record<string, string> = {
  "reverse-text": "reverseText",
  "alphabet-sort": "alphabetSort",
  wordle: "wordle",
  "math-env": "mathEnv",
};

export const BUILT_IN_ENVIRONMENTS: readonly string[] = Object.keys(BUILT_IN);

/** The module and export of a built-in environment; undefined for any other id. */
export function builtInEnvironment(id: string): { file: URL; export: string } | undefined {
  const name = /^(?:\w[\w.-]*\/)?([^/@]+)(?:@[^/]+)?$/.exec(id)?.[1] ?? "";
  const exported = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (exported === undefined) return undefined;
  // ".ts" from source, ".js" from dist.
  return { file: new URL(`./${name}${extname(import.meta.filename)}`, import.meta.url), export: exported };
}
