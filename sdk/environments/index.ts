/**
 * Environments that come with Spotter, by the names that configurations use. An owner before the name and a version
 * behind it are left out: `primeintellect/wordle@0.1.0` and the taskset `wordle-v1` are `wordle`.
 *
 * @module
 */
import { extname } from "node:path";

import type { BundledEnvironment } from "./arg-kinds.ts";

/** Id, and the export of the file of that name. */
const BUILT_IN: Readonly<Record<BundledEnvironment, string>> = {
  "reverse-text": "reverseText",
  "alphabet-sort": "alphabetSort",
  wordle: "wordle",
  "math-env": "mathEnv",
};

export const BUILT_IN_ENVIRONMENTS: readonly string[] = Object.keys(BUILT_IN);

/** A module with an environment of its own, and the name it comes with. */
export interface BuiltIn {
  name: BundledEnvironment;
  file: URL;
  export: string;
}

/** The module and export of a built-in environment; undefined for any other id. */
export function builtInEnvironment(id: string): BuiltIn | undefined {
  const name = /^(?:\w[\w.-]*\/)?([^/@]+?)(?:-v\d+)?(?:@[^/]+)?$/.exec(id)?.[1] ?? "";
  if (!isBuiltIn(name)) return undefined;
  // ".ts" from source, ".js" from dist.
  const file = new URL(`./${name}${extname(import.meta.filename)}`, import.meta.url);
  return { name, file, export: BUILT_IN[name] };
}

function isBuiltIn(name: string): name is BundledEnvironment {
  return Object.hasOwn(BUILT_IN, name);
}
