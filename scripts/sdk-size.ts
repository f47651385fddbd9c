import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/**
 * Gzipped size of `import "spotter"` with zod/mini inside. What the SDK imports only when asked for (the
 * daemon finder, the bundler of user code) is a chunk of its own and does not count.
 */
export async function sdkBundleBytes(): Promise<number> {
  const result = await build({
    entryPoints: [join(root, "sdk/index.ts")],
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    external: ["esbuild"],
    outdir: "out",
    write: false,
    metafile: true,
    legalComments: "none",
  });
  const reached = staticClosure(result.metafile.outputs, "out/index.js");
  return result.outputFiles
    .filter((file) => reached.some((name) => file.path.endsWith(name)))
    .reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}

type Outputs = Record<string, { imports: { path: string; kind: string; external?: boolean }[] }>;

function staticClosure(outputs: Outputs, entry: string): string[] {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const each of outputs[name]?.imports ?? []) {
      if (each.kind === "import-statement" && !each.external) visit(each.path);
    }
  };
  visit(entry);
  return [...seen];
}
