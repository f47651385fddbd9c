import { readFile } from "node:fs/promises";
import { dirname, extname, join, relative } from "node:path";
import type { Plugin } from "esbuild";

const NAMESPACE = "spotter";
const root = join(import.meta.dirname, "..");
const MATH = /^math\/index$/;
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
      build.onResolve({ filter: /^spotter$/ }, async ({ importer }) =>
        ours((await mentionsMath(importer)) ? "user-code/runtime-math" : "user-code/runtime"),
      );
      build.onResolve({ filter: /^spotter:adapter$/ }, () => ours("user-code/adapter"));
      build.onResolve({ filter: /^\./, namespace: NAMESPACE }, ({ path, importer }) => {
        const target = relative("/", join("/", dirname(importer), path));
        return ours(target.slice(0, -extname(target).length));
      });
      build.onLoad({ filter: MATH, namespace: NAMESPACE }, async () => ({
        contents: await mathModule(),
        loader: "js",
      }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => ({
        contents: await readFile(join(root, path + extension), "utf8"),
        loader: extension === ".ts" ? "ts" : "js",
      }));
    },
  };
}

/** Mentioned in this way or another: `import * as spotter` and `export *` tell no names. */
async function mentionsMath(file: string): Promise<boolean> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /\bmathEqual\b|export\s*\*/.test(text);
}

let math: Promise<string> | undefined;

/**
 * The algebra and the library under it as one file, made once: of its several hundred files each would else go through
 * this plugin. Names are made short, so that nothing in it tells where it lay.
 */
function mathModule(): Promise<string> {
  math ??= bundleMath();
  math.catch(() => (math = undefined));
  return math;
}

async function bundleMath(): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(root, `math/index${extension}`)],
    absWorkingDir: root,
    write: false,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2024",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "import"],
    minify: true,
    legalComments: "none",
    logLevel: "silent",
    tsconfigRaw: {},
  });
  return outputFiles[0]?.text ?? "";
}

function ours(path: string): { path: string; namespace: string; sideEffects: boolean } {
  return { path, namespace: NAMESPACE, sideEffects: false };
}
