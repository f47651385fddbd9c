import { readFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import type { Plugin } from "esbuild";

const NAMESPACE = "spotter";
const root = join(import.meta.dirname, "..");
/** ".ts" from source, ".js" from dist. */
const extension = extname(import.meta.filename);

/**
 * Makes `import ... from "spotter"` and the adapter resolve to this copy's own files, wherever the user's file
 * lies and whether or not the package is installed there. The files live in a namespace of their own, so that
 * no path of this machine gets into the bundle and its hash.
 */
export function spotterModule(): Plugin {
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({ filter: /^spotter$/ }, () => ours("user-code/runtime"));
      build.onResolve({ filter: /^spotter:adapter$/ }, () => ours("user-code/adapter"));
      build.onResolve({ filter: /^\./, namespace: NAMESPACE }, ({ path, importer }) => {
        const target = relative("/", join("/", dirname(importer), path));
        return ours(target.slice(0, -extname(target).length));
      });
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => ({
        contents: await readFile(join(root, path + extension), "utf8"),
        loader: extension === ".ts" ? "ts" : "js",
      }));
    },
  };
}

function ours(path: string): { path: string; namespace: string; sideEffects: boolean } {
  return { path, namespace: NAMESPACE, sideEffects: false };
}
